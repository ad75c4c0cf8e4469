// trap: a result with a NaN is an error that names what made it, where, and of what; nothing else is.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import {
  type AnyExpr,
  add,
  compile,
  compileAsync,
  cond,
  cpu,
  customRule,
  div,
  exp,
  fori,
  grad,
  gt,
  isAdException,
  log,
  map,
  matmul,
  mul,
  reference,
  scan,
  sqrt,
  sub,
  sum,
  type Tensor,
  tensor,
  transpose,
  vmap,
  where,
  whileLoop,
} from '../../src/index.js'

const nan = { trap: 'nan' } as const
const any = { trap: 'nonFinite' } as const

/** The line of this file that the caller is at. */
const here = (): number => Number(/trap\.test\.ts:(\d+)/.exec(new Error().stack!.split('\n')[2]!)?.[1])
type NonFinite = Extract<cd.AdError, { readonly _tag: 'NonFinite' }>
interface Trapped {
  readonly error: NonFinite
  readonly message: string
  readonly line: number
}
const trappedBy = (e: unknown): Trapped => {
  if (!isAdException(e) || e.error._tag !== 'NonFinite') throw e
  return { error: e.error, message: e.message, line: Number(/trap\.test\.ts:(\d+)/.exec(e.error.site?.source ?? '')?.[1]) }
}
const trapped = (f: () => unknown): Trapped => {
  try {
    f()
  } catch (e) {
    return trappedBy(e)
  }
  throw new Error('nothing was raised')
}
/** What the causes say, the first one first. */
const told = ({ error }: Trapped): readonly string[] =>
  error.causes.map(
    (c) =>
      `${c.primitive ?? c.argument}(${c.given.join(', ')}) = ${c.value} at [${c.index}]${c.steps.map((k) => ` step ${k}`).join('')}${c.derivativeOf === undefined ? '' : ` of ${c.derivativeOf}`}`,
  )

describe('trap', () => {
  it('names equation, element, arguments and line', () => {
    let line = 0
    const loss = (x: AnyExpr) => {
      const y = sub(x, 2)
      line = here() + 1
      const z = log(y)
      return sum(z)
    }
    const t = trapped(() => compile(loss, cpu(), nan)([3, 1, 4]))
    expect(told(t)).toEqual(['log(-1) = NaN at [1]'])
    expect(t.line).toBe(line)
    expect(t.error).toMatchObject({ where: 'loss', result: 'the result', index: [], value: Number.NaN })
    expect(t.message.replace(/ {3}at .*/, '')).toBe(
      [
        'NonFinite: loss: the result is NaN.',
        '  first: log(-1) is NaN (element [1] of f64 [3])',
        '  in loss: y1 = log(y0) : f64 [3]',
        '  fix: choose what log is given, where(ok, x, safe), or among its results: what where leaves out reaches neither value nor derivative.',
      ].join('\n'),
    )
  })
  it('leaves a function what it has beside calls: explain and dispose', async () => {
    const f = compile((x: AnyExpr) => sum(log(x)), cpu(), nan)
    expect(f.explain([1, 2]).steps.length).toBe(1)
    f.dispose()
    expect(() => f([1, 2])).toThrow(/disposed/)
    const g = compileAsync((x: AnyExpr) => sum(log(x)), cpu(), nan)
    expect((await g.explain([1, 2])).steps.length).toBe(1)
    await g.dispose()
    await expect(g([1, 2])).rejects.toThrow(/disposed/)
  })
  it('names the result and its element', () => {
    const t = trapped(() => compile((x: AnyExpr) => ({ a: x, b: [log(x)] }), cpu(), nan)([1, -2]))
    expect([t.error.result, t.error.index]).toEqual(['b.0', [1]])
    expect(t.message).toMatch(/^NonFinite: f: b\.0, element \[1\], is NaN\.\n/)
  })
  it('names an argument that holds one, also one that was captured', () => {
    const t = trapped(() => compile(({ p: { w } }: { p: { w: AnyExpr } }) => sum(exp(w)), cpu(), nan)({ p: { w: [1, Number.NaN] } }))
    expect(t.message).toMatch(/^NonFinite: .*\n {2}first: argument p\.w\[1\] is NaN \(f64 \[2\]\)\n/)
    const v = tensor([1, Number.NaN])
    expect(told(trapped(() => compile((x: AnyExpr) => mul(x, v), cpu(), nan)(1)))).toEqual(['a captured tensor() = NaN at [1]'])
    expect(told(trapped(() => compile((x: AnyExpr) => x, cpu(), any)(Number.NEGATIVE_INFINITY)))).toEqual([
      'argument x0() = -Infinity at []',
    ])
  })
  it('tells of the infinity that the NaN was made of', () => {
    const f = (x: AnyExpr) => sub(exp(x), exp(x))
    expect(told(trapped(() => compile(f, cpu(), nan)([1, 1000])))).toEqual([
      'exp(1000) = Infinity at [1]',
      'sub(Infinity, Infinity) = NaN at [1]',
    ])
  })
  it('raises nothing where results are numbers, whatever is masked away, and nothing unless asked', () => {
    const f = (x: AnyExpr) => sum(where(gt(x, 0), log(x), 0))
    expect(compile(f, cpu(), nan)([1, -1]).item()).toBe(0)
    expect(compile(grad(f), cpu(), any)([1, -1]).toArray()).toEqual([1, 0])
    expect(compile((x: AnyExpr) => log(x), cpu())([-1]).toArray()).toEqual([Number.NaN])
  })
  it('follows the branch of where that was chosen', () => {
    const f = (x: AnyExpr) => where(gt(x, 0), sqrt(sub(x, 5)), log(x))
    expect(told(trapped(() => compile(f, cpu(), nan)(-1)))).toEqual(['log(-1) = NaN at []'])
    expect(told(trapped(() => compile(f, cpu(), nan)(1)))).toEqual(['sqrt(-4) = NaN at []'])
  })
  it('lets infinities pass with nan, and not with nonFinite', () => {
    const f = (x: AnyExpr) => div(1, x)
    expect(compile(f, cpu(), nan)(0).item()).toBe(Number.POSITIVE_INFINITY)
    expect(told(trapped(() => compile(f, cpu(), any)(0)))).toEqual(['div(1, 0) = Infinity at []'])
  })
  it('follows elements that are moved, and arrays into those of products', () => {
    const f = (x: AnyExpr) => transpose(log(x))
    expect(
      told(
        trapped(() =>
          compile(
            f,
            cpu(),
            nan,
          )([
            [1, -2],
            [-3, 1],
          ]),
        ),
      ),
    ).toEqual(['log(-3) = NaN at [1,0]'])
    const g = (x: AnyExpr) => matmul(mul(x, 1e300), [[1], [-1]])
    expect(
      told(
        trapped(() =>
          compile(
            g,
            cpu(),
            nan,
          )([
            [1, 2],
            [1e10, 1e10],
          ]),
        ),
      ),
    ).toEqual([
      'mul(10000000000, 1e+300) = Infinity at [1,0]',
      'matmul(f64 [2, 2] of 1e+300 to Infinity, f64 [2, 1] of -1 to 1) = NaN at [1,0]',
    ])
  })
  for (const mode of ['mixed', 'reverse'] as const)
    it(`says whose derivative it is, in ${mode} mode, at the line of the user's`, () => {
      let line = 0
      const f = (x: AnyExpr) => {
        const y = mul(x, x)
        line = here() + 1
        const z = sqrt(y)
        return sum(z)
      }
      const t = trapped(() => compile(grad(f, { mode }), cpu(), nan)([3, 0, 4]))
      expect(told(t)[0]).toBe('div(0.5, 0) = Infinity at [1] of sqrt')
      expect(told(t)[1]).toMatch(/^mul\(.*\) = NaN at \[1\] of (sqrt|mul)$/)
      expect(t.line).toBe(line)
      expect(t.message).toMatch(/in the derivative of sqrt/)
    })
  it('says nothing of derivatives in the forward part of a gradient', () => {
    const f = (x: AnyExpr) => sum(mul(log(x), x))
    const t = trapped(() => compile(cd.valueAndGrad(f), cpu(), nan)([-1]))
    expect(told(t)).toEqual(['log(-1) = NaN at [0]'])
    expect(
      told(
        trapped(() =>
          compile(
            vmap((x: AnyExpr) => log(x)),
            cpu(),
            nan,
          )([1, -1]),
        ),
      ),
    ).toEqual(['log(-1) = NaN at [1]'])
  })
})

describe('trap sees inside', () => {
  it('loops, and tells the step', () => {
    let line = 0
    const f = (x: AnyExpr) =>
      fori(
        5,
        (_k, c: AnyExpr) => {
          line = here() + 1
          return sqrt(sub(c, 1))
        },
        x,
      )
    const t = trapped(() => compile(f, cpu(), nan)(3))
    expect(told(t)[0]).toMatch(/^sqrt\(-0\.35\d*\) = NaN at \[\] step 2$/)
    expect(t.line).toBe(line)
    expect(t.message).toMatch(/step 2 of a loop/)
  })
  it('what loops stack, slices that hold it already, and loops in loops', () => {
    const f = (x: AnyExpr) => scan((c: AnyExpr, v: AnyExpr) => [add(c, 1), log(v)], 0, x)[1]
    expect(told(trapped(() => compile(f, cpu(), nan)([3, 2, -1, 2, -3])))).toEqual(['log(-1) = NaN at [] step 2'])
    const g = (x: AnyExpr) => scan((c: AnyExpr, v: AnyExpr) => [add(c, exp(v)), null], 0, x)[0]
    expect(told(trapped(() => compile(g, cpu(), nan)([3, Number.NaN, 2])))).toEqual(['argument x0() = NaN at [1]'])
    const h = (x: AnyExpr) => fori(3, (_k, c: AnyExpr) => fori(2, (_j, d: AnyExpr) => log(d), c), x)
    expect(told(trapped(() => compile(h, cpu(), nan)(20)))).toEqual([expect.stringMatching(/^log\(-.*\) = NaN at \[\] step 2 step 0$/)])
  })
  it('loops that a condition ends', () => {
    const f = (x: AnyExpr) =>
      whileLoop(
        (c: AnyExpr) => gt(c, 0),
        (c: AnyExpr) => log(sub(c, 4)),
        x,
      )[0]
    expect(told(trapped(() => compile(f, cpu(), nan)(10)))).toEqual([expect.stringMatching(/^log\(-.*\) = NaN at \[\] step 1$/)])
  })
  it('the way back of loops, by the step that they have forward', () => {
    const f = (x: AnyExpr) => scan((c: AnyExpr, v: AnyExpr) => [add(c, sqrt(mul(v, v))), null], 0, x)[0]
    const t = trapped(() => compile(grad(f), cpu(), nan)([3, 2, 0, 5]))
    expect(told(t)[0]).toBe('div(0.5, 0) = Infinity at [] step 2 of sqrt')
    const carried = (x: AnyExpr) => fori(3, (_k, c: AnyExpr) => sub(exp(c), exp(c)), x)
    expect(told(trapped(() => compile(carried, cpu(), nan)(1000)))).toEqual([
      'exp(1000) = Infinity at [] step 0',
      'sub(Infinity, Infinity) = NaN at [] step 0',
    ])
    const later = (x: AnyExpr) => fori(4, (_k, [c, d]: readonly [AnyExpr, AnyExpr]) => [exp(c), mul(d, c)] as const, [x, 0] as const)[1]
    expect(told(trapped(() => compile(later as never, cpu(), nan)(...([5] as never[]))))[0]).toMatch(
      /^exp\(.*\) = Infinity at \[\] step 2$/,
    )
  })
  it('branches, functions with rules of their own, and maps', () => {
    const branch = (x: AnyExpr) =>
      cond(
        gt(x, 0),
        (u: AnyExpr) => log(u),
        (u: AnyExpr) => log(mul(u, 2)),
        x,
      )
    expect(told(trapped(() => compile(branch, cpu(), nan)(-1)))).toEqual(['log(-2) = NaN at []'])
    expect(told(trapped(() => compile(branch, cpu(), nan)(Number.NaN)))).toEqual(['argument x0() = NaN at []'])
    const own = (x: AnyExpr) => customRule((u: AnyExpr) => log(sub(u, 1)), { frule: (u, du) => [log(u), du] })(x)
    expect(told(trapped(() => compile(own, cpu(), nan)(-1)))).toEqual(['log(-2) = NaN at []'])
    const mapped = (x: AnyExpr) => map((u) => log(sub(u, 1)), x)
    expect(told(trapped(() => compile(mapped, cpu(), nan)([3, -1])))).toEqual(['log(-2) = NaN at [1]'])
  })
})

describe('trap on each way to run', () => {
  const f = (x: AnyExpr) => log(x)
  it('reference', () => {
    expect(told(trapped(() => compile(f, reference(), nan)([-1])))).toEqual(['log(-1) = NaN at [0]'])
    expect(compile(f, reference(), nan)([1]).toArray()).toEqual([0])
  })
  it('into: targets stay as they are, also where they are arguments', () => {
    const target = tensor([5, 6])
    const run = compile(f, cpu(), nan).into(target)
    trapped(() => run([1, -1]))
    expect(target.toArray()).toEqual([5, 6])
    expect(run([1, 1]).toArray()).toEqual([0, 0])
    const w = tensor([4, 9])
    const step = compile((x: AnyExpr) => sqrt(sub(x, 4)), cpu(), nan).into(w)
    step(w)
    expect(told(trapped(() => step(w)))).toEqual(['sqrt(-4) = NaN at [0]'])
    expect(w.toArray()).toEqual([0, Math.sqrt(5)])
    const sums = tensor([1, 2])
    compile(f, cpu(), nan).into(sums, { accumulate: true })([1, Math.E])
    expect(sums.toArray()).toEqual([1, 3])
  })
  it('compileAsync', async () => {
    const g = compileAsync(f, cpu(), nan)
    expect((await g([1])).toArray()).toEqual([0])
    const w = tensor([-1])
    expect(told(trappedBy(await compileAsync((x: AnyExpr) => log(mul(x, w)), cpu(), nan)([2]).catch((e: unknown) => e)))).toEqual([
      'log(-2) = NaN at [0]',
    ])
    const target = tensor([7])
    expect(
      told(
        trappedBy(
          await g
            .into(target)([-1])
            .catch((e: unknown) => e),
        ),
      ),
    ).toEqual(['log(-1) = NaN at [0]'])
    expect(target.toArray()).toEqual([7])
    expect(((await g.into(target, { accumulate: true })([1])) as Tensor).toArray()).toEqual([7])
  })
  it('refuses other words', () => {
    expect(() => compile(f, cpu(), { trap: 'NaN' } as never)).toThrow(/BadInput: compile: trap is 'NaN'/)
    expect(() => compileAsync(f, cpu(), { tarp: 'nan' } as never)).toThrow(/BadInput: compileAsync: there is no option tarp/)
  })
  it('says so where the function is not the same when it is traced again', () => {
    let k = 0
    const impure = (x: AnyExpr) => (k++ === 0 ? log(sub(x, 2)) : exp(x))
    const t = trapped(() => compile(impure, cpu(), nan)([1]))
    expect(told(t)).toEqual(['log(-1) = NaN at [0]'])
    expect(t.line).toBe(Number(/trap\.test\.ts:(\d+)/.exec(t.message)?.[1]))
  })
})
