// When compileAsync does what: traces, plans and copies in the call, runs later, one call after the other.
import { describe, expect, it } from 'vitest'
import { type AnyExpr, compileAsync, cpu, mul, type SyncBackend, sum, tensor, valueAndGrad } from '../../src/index.js'

/** The CPU, which says what is asked of it. */
const told = () => {
  const log: string[] = []
  const inner = cpu()
  const backend: SyncBackend = {
    kind: 'sync',
    name: 'told',
    prepare: (program) => {
      log.push('prepare')
      const x = inner.prepare(program)
      return {
        run: (...args) => {
          log.push('run')
          return x.run(...args)
        },
        explain: () => x.explain(),
        dispose: () => {
          log.push('dispose')
          x.dispose()
        },
      }
    },
  }
  return { log, backend }
}

describe('compileAsync on a synchronous backend', () => {
  const traced = (log: string[]) =>
    valueAndGrad((x: AnyExpr) => {
      log.push('trace')
      return sum(mul(x, x))
    })

  it('traces and plans in the call, before it returns, and runs after that', async () => {
    const { log, backend } = told()
    const f = compileAsync(traced(log), backend)
    const first = f([1, 2] as never)
    expect(log).toEqual(['trace', 'prepare'])
    const second = f([3, 4] as never)
    expect(log).toEqual(['trace', 'prepare'])
    expect((await first).value.item()).toBe(5)
    expect((await second).value.item()).toBe(25)
    expect(log).toEqual(['trace', 'prepare', 'run', 'run'])
  })

  it('prepare does that work ahead, and runs nothing', async () => {
    const { log, backend } = told()
    const f = compileAsync(traced(log), backend)
    await f.prepare([1, 2] as never)
    expect(log).toEqual(['trace', 'prepare'])
    await f([1, 2] as never)
    expect(log).toEqual(['trace', 'prepare', 'run'])
  })

  it('reads arguments in the call: what is written to them afterwards is not seen', async () => {
    const { log, backend } = told()
    const f = compileAsync(traced(log), backend)
    const x = tensor([1, 2])
    const y = f(x as never)
    x.data.fill(100)
    expect((await y).value.item()).toBe(5)
  })

  it('dispose frees after the calls that were made before', async () => {
    const { log, backend } = told()
    const f = compileAsync(traced(log), backend)
    const y = f([1, 2] as never)
    const gone = f.dispose()
    expect(f.dispose()).toBe(gone)
    await gone
    expect(log).toEqual(['trace', 'prepare', 'run', 'dispose'])
    expect((await y).value.item()).toBe(5)
    await expect(f([1, 2] as never)).rejects.toThrow('this compiled function was disposed')
  })
})
