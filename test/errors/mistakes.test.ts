/** What a newcomer gets wrong is answered by what to write, at the newcomer's own line. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { mistakes } from './mistakes.js'

describe('a mistake', () => {
  it.each(mistakes.map((m) => ({ ...m, name: String(m.call).replace(/\s+/g, ' ').slice(0, 90) })))('$name', ({ call, says, line }) => {
    let error: unknown
    try {
      call()
    } catch (e) {
      error = e
    }
    if (!cd.isAdException(error)) throw new Error(`not ours: ${String(error)}`)
    for (const part of says) expect(error.message).toContain(part)
    const { site } = error.error as { readonly site?: { readonly source?: string } }
    // What `traced` calls is within a function of the row: its line or that of the body, which is the same.
    expect(site?.source).toMatch(new RegExp(`mistakes\\.ts:${line}:`))
  })
  it('in text says how numbers are had, and shows what is', () => {
    expect(`${cd.zeros([2])}`).toContain('(evaluate(x) gives its numbers)')
    expect(String(cd.add(1, 2))).toMatch(/^Expr add: f64 \[\] \(evaluate/)
    expect(cd.show(cd.mul(cd.tensor([1, 2]), 3))).toContain('mul(captured0, 3) : f64 [2]')
    const seen: string[] = []
    cd.grad((x) => {
      seen.push(cd.show(cd.mul(x, 2)))
      return x
    })(3)
    expect(seen[0]).toContain('y0 = mul(x0, 2) : f64 []')
  })
})
