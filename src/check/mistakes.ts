/** From findings to mistakes: each once, seen by the plainest check that fails; the others are its consequences. */
import { leastOf } from '../core/errors/extremes.js'
import type { CheckName } from './check-names.js'
import type { Finding } from './findings.js'

/** What a mistake is seen by, the plainest first: a finding stands for those behind it. */
const structure: readonly CheckName[] = ['raises', 'shape', 'tangent']
export const firstOrder: readonly CheckName[] = ['jacobian', 'vjp', 'jvp', 'kink']
const behind: readonly (readonly CheckName[])[] = [
  ['adjoint'],
  ['modes'],
  ['seed'],
  ['linear'],
  ['activity'],
  ['accumulate'],
  ['non-finite'],
  ['thunk'],
  ['repeat'],
  ['commute'],
  ['second order'],
  ['higher order'],
  ['estimate'],
  ['f32'],
  ['beside'],
]
/** The ranks of what one wrong derivative fails; the lowest that is there is reported. */
const ranks: readonly (readonly CheckName[])[] = [structure, firstOrder, ...behind]
const rankOf = (c: CheckName): number => ranks.findIndex((r) => r.includes(c))
/** The path of what moves every argument: a finding that names one argument stands for it. */
export const ALL = 'all arguments'
/** Found along a random direction: a finding that names an entry stands for it. */
export const DIRECTION = 'along a direction'

/** One finding for each mistake: consequences go into `also`. Checks that have nothing to do with derivatives stand for themselves. */
export const reduced = <F extends Omit<Finding, 'looked'>>(given: readonly F[]): readonly F[] => {
  // A literal is an argument that nobody differentiates: what depends on that fails there too.
  const activity = given.some((f) => f.check === 'activity')
  const all = activity
    ? given.filter((f) => !(firstOrder.includes(f.check) || f.check === 'adjoint') || !f.in.includes('the literal'))
    : given
  const ranked = all.filter((f) => rankOf(f.check) >= 0)
  const lowest = leastOf(ranked.map((f) => rankOf(f.check)))
  const kept: F[] = []
  const take = (list: readonly F[], key: (f: F) => string): void => {
    const best = new Map<string, F>()
    for (const f of list) {
      const known = best.get(key(f))
      const order = ranks[rankOf(f.check)] ?? []
      if (known === undefined || order.indexOf(f.check) < order.indexOf(known.check)) best.set(key(f), f)
    }
    const named = [...best.values()].filter((f) => !f.path.startsWith(ALL))
    kept.push(...(named.length > 0 ? named : best.values()))
  }
  const main = ranked.filter((f) => rankOf(f.check) === lowest)
  const ofEntries = main.filter((f) => !f.how.includes(DIRECTION))
  // What is raised is one mistake whoever meets it, at whatever shape.
  const words = (f: F): string => f.actual.replace(/\[[^\]]*\]/g, '[]')
  if (lowest > 1) take((ofEntries.length > 0 ? ofEntries : main).slice(0, 1), (f) => f.check)
  else if (lowest >= 0 && ranked.length > 0)
    take(main, (f) => (f.check === 'raises' ? `raises ${words(f)}` : lowest === 0 ? `${f.check} ${f.path}` : f.path))
  take(
    all.filter((f) => rankOf(f.check) < 0),
    (f) => (f.check === 'value' ? `value ${f.how}` : f.check),
  )
  return kept.map((f, i) => {
    const also =
      i > 0 || rankOf(f.check) < 0 ? [] : [...new Set(ranked.map((r) => r.check))].filter((c) => !kept.some((k) => k.check === c))
    return { ...f, also: [...new Set([...f.also, ...also])] }
  })
}
