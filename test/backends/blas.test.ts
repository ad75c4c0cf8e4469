/** `codual/blas` where there is no library, or something else in its place. */
import { describe, expect, it, vi } from 'vitest'
import { blas } from '../../src/backends/blas/index.js'
import * as cd from '../../src/index.js'

const thrown = (f: () => unknown): unknown => {
  try {
    f()
  } catch (e) {
    return (e as { readonly error?: unknown }).error
  }
  return undefined
}

describe('blas()', () => {
  it('refuses a path at which there is no library, and one of something else', () => {
    expect(thrown(() => blas({ path: '/no/such/library.so' }))).toMatchObject({ _tag: 'Unsupported', backend: 'blas' })
    expect(thrown(() => blas({ path: process.execPath }))).toMatchObject({ _tag: 'Unsupported', backend: 'blas' })
  })

  it('refuses options that are none', () => {
    for (const given of [{ path: '' }, { path: 1 }, { path: 'a\0b' }, { threads: 0 }, { threads: 1.5 }, { library: 'x' }, 7])
      expect(
        thrown(() => blas(given as never)),
        JSON.stringify(given),
      ).toMatchObject({ _tag: 'BadInput' })
    for (const given of [true, 'auto', {}, null])
      expect(
        thrown(() => cd.cpu({ blas: given as never })),
        JSON.stringify(given),
      ).toMatchObject({ _tag: 'BadInput' })
  })

  it('says why there is none where koffi is not installed, and what is computed stays the same', async () => {
    vi.resetModules()
    vi.doMock('node:module', () => ({
      createRequire: () => () => {
        throw new Error('Cannot find module')
      },
    }))
    const { blas: without } = (await import('../../src/backends/blas/index.js')) as { readonly blas: typeof blas }
    vi.doUnmock('node:module')
    const none = without()
    expect(none.library).toBeUndefined()
    expect(none.reason).toMatch(/koffi.*not installed/)
    const f = cd.compile((x: cd.AnyExpr) => cd.matmul(x as never, x as never) as cd.AnyExpr, cd.cpu({ blas: none }))
    const x = cd.tensor(
      Float64Array.from({ length: 400 }, (_, i) => Math.sin(i)),
      [20, 20],
    )
    expect((f(x as never) as unknown as cd.Tensor).data).toEqual(cd.evaluate(cd.matmul(x, x)).data)
    expect(f.explain(...([x] as never)).blas).toMatch(/^none: .*koffi/)
  })
})
