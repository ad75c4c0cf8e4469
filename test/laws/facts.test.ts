/** What can be seen of primitives is declared (test/laws/facts.ts): of all of them in depth, of some with `npm test`; and parts of a structure that are not optional do not compile without. */
import { describe, expect, it } from 'vitest'
import type { Structure } from '../../src/core/graph/primitive.js'
import { deep, some } from '../depth.js'
import { exceptions, isExcepted, laws, shipped } from './facts.js'

describe('what is seen of a primitive is said of it', () => {
  const tried = some([...shipped.values()], 50)
  // The law of zeros has a test of its own.
  for (const [law, of] of Object.entries(laws).filter(([name]) => name !== 'zeros hold'))
    it(law, () => {
      const wrong = tried.filter((p) => !isExcepted(law, p.name)).flatMap((p) => of(p).map((w) => `${p.name}: ${w}`))
      expect(wrong).toEqual([])
    })
  if (deep)
    it('exceptions are needed', () => {
      const needless = exceptions
        .filter(({ law }) => law !== 'zeros hold')
        .flatMap(({ law, names }) => names.filter((n) => laws[law]!(shipped.get(n)!).length === 0).map((n) => `${law}: ${n}`))
      expect(needless).toEqual([])
    })
  it('what a structure needs, the compiler asks for', () => {
    // @ts-expect-error by what it folds
    const fold: Structure = { kind: 'fold' }
    // @ts-expect-error what its running results are of
    const running: Structure = { kind: 'running' }
    // @ts-expect-error which argument says the places
    const places: Structure = { kind: 'places' }
    // @ts-expect-error what reads at the places where it adds
    const adds: Structure = { kind: 'adds' }
    expect([fold, running, places, adds].map((s) => s.kind)).toEqual(['fold', 'running', 'places', 'adds'])
  })
})
