// Checks that are generated from the samples of a table of primitives: derivatives, adjoints, second order, batching, dtypes.
import { describe, expect, it } from 'vitest'
import { evaluateNodes } from '../../src/backends/reference/index.js'
import type { Rule } from '../../src/core/calculus/rule.js'
import { isAdException } from '../../src/core/errors/error.js'
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, asNode, constant, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type NDArray, toNested } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import { zeros } from '../../src/core/ops/construct.js'
import { add, mul } from '../../src/core/ops/elementwise.js'
import { sum } from '../../src/core/ops/reductions.js'
import type { DType } from '../../src/core/types/dtype.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { instantiate } from '../../src/modes/common.js'
import { denseCotangents } from '../../src/modes/reverse.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import { batch } from '../../src/modes/vmap.js'
import { coreRegistry as registry } from '../../src/rules/index.js'

/** Numbers in [0, 1), the same for the same seed. */
export const random = (seed: number): (() => number) => {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
export const array = (shape: readonly number[], dtype: DType, f: (i: number) => number): NDArray => {
  const data = allocate(dtype, sizeOf(shape))
  for (let i = 0; i < data.length; i++) data[i] = f(i)
  return { shape, dtype, data }
}
/** The value of an expression that has no inputs but tensors. */
export const evaluated = (x: unknown): NDArray => evaluateNodes([asNode(x)])[0]!
export const numbersOf = (x: unknown): number[] => Array.from(evaluated(x).data)

const direction = (like: NDArray, next: () => number): NDArray => array(like.shape, like.dtype, () => 2 * next() - 1)
const dot = (a: NDArray, b: NDArray): number => Array.from(a.data).reduce((s, x, i) => s + x * b.data[i]!, 0)
const along = (x: NDArray, d: NDArray, t: number): NDArray => array(x.shape, x.dtype, (i) => x.data[i]! + t * d.data[i]!)
const close = (got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number, what: string): void => {
  expect(got.length, what).toBe(want.length)
  const scale = Math.max(1, ...Array.from(want).map(Math.abs))
  for (let i = 0; i < want.length; i++)
    if (!(Math.abs(got[i]! - want[i]!) <= tolerance * scale)) expect.fail(`${what}: entry ${i} is ${got[i]}, not ${want[i]}`)
}

/** One sample with numbers drawn, as a graph over fresh inputs. */
interface Case {
  readonly args: readonly NDArray[]
  readonly inputs: readonly Node[]
  readonly outputs: readonly Node[]
}
const caseOf = (primitive: AnyPrimitive, sample: Sample, next: () => number, float: DType = 'f64'): Case => {
  const args = sample.args.map((a) => {
    const dtype = a.dtype ?? float
    const [low, high] = a.domain ?? [-2, 2]
    const values = a.values ?? a.draw?.(next, a.shape)
    return array(a.shape, dtype, (i) => {
      if (values !== undefined) return values[i]!
      const x = low + (high - low) * next()
      return isFloat(dtype) ? x : Math.floor(x)
    })
  })
  const inputs = args.map((a) => input(aval(a.shape, a.dtype)))
  return { args, inputs, outputs: applyAny(primitive, inputs, sample.params) }
}
const bind = (inputs: readonly Node[], args: readonly NDArray[]): Map<Node, NDArray> => new Map(inputs.map((n, i) => [n, args[i]!]))

/** Runs every check on every sample of every primitive of a table. */
export const checkTable = (table: Readonly<Record<string, AnyPrimitive>>, rules: Readonly<Record<string, Rule>>): void => {
  it('has one whole row per primitive, under its name', () => {
    expect(Object.keys(rules)).toEqual(Object.keys(table))
    for (const [name, primitive] of Object.entries(table)) {
      expect(primitive.name).toBe(name)
      expect(rules[name]!.primitive).toBe(primitive)
      expect(Object.keys(rules[name]!)).toEqual(expect.arrayContaining(['frule', 'rrule', 'batch']))
      expect(primitive.samples.length).toBeGreaterThan(1)
    }
  })
  for (const primitive of Object.values(table))
    describe(primitive.name, () => {
      primitive.samples.forEach((sample, k) => {
        const shapes = sample.args.map((a) => `[${a.shape.join(', ')}]`).join(' ')
        describe(`${shapes} ${JSON.stringify(sample.params)}${sample.note ? ` (${sample.note})` : ''}`, () =>
          checkSample(primitive, sample, 17 * k + 1))
      })
    })
}

const checkSample = (primitive: AnyPrimitive, sample: Sample, seed: number): void => {
  const floats = (c: Case): number[] =>
    c.args.flatMap((a, i) => (isFloat(a.dtype) && primitive.args[primitive.variadic ? 0 : i] === 'float' ? [i] : []))

  it('has parameters that its codec accepts', () => {
    expect(primitive.codec.is(sample.params)).toBe(true)
    expect(primitive.codec.is(null)).toBe(false)
  })

  it('keeps values, dtypes and shapes, and gives ints no tangent', () => {
    for (const float of ['f64', 'f32'] as const) {
      const next = random(seed)
      const c = caseOf(primitive, sample, next, float)
      const plain = evaluateNodes(c.outputs, bind(c.inputs, c.args))
      c.outputs.forEach((o, i) => {
        expect(plain[i]!.shape).toEqual(o.shape)
        expect(plain[i]!.dtype).toBe(o.dtype)
      })
      const at = floats(c)
      const pushed = pushforward(registry, c.outputs, new Map(at.map((i) => [c.inputs[i]!, input(c.inputs[i]!.aval)])))
      const seeds = c.outputs.map((o) => (isFloat(o.dtype) ? asExpr(input(o.aval)) : ({ _tag: 'NoTangent' } as const)))
      const pulled = pullback(registry, c.outputs, seeds, c.inputs)
      for (const values of [pushed.values, pulled.values]) {
        const own = evaluateNodes(values, bind(c.inputs, c.args))
        own.forEach((v, i) => {
          expect(v).toEqual(plain[i])
        })
      }
      pushed.tangents.forEach((d, i) => {
        const o = c.outputs[i]!
        if (!isFloat(o.dtype)) expect(d._tag).toBe('NoTangent')
        else if (d._tag === 'Expr') expect(asNode(d).aval).toMatchObject({ shape: o.shape, dtype: o.dtype })
        else expect(d._tag).toBe('ZeroTangent')
      })
      pulled.cotangents.forEach((d, i) => {
        const x = c.inputs[i]!
        if (!isFloat(x.dtype)) expect(d._tag).toBe('NoTangent')
        else if (d._tag === 'Expr') expect(asNode(d).aval).toMatchObject({ shape: x.shape, dtype: x.dtype })
        else expect(d._tag).toBe('ZeroTangent')
      })
    }
  })

  it('gives the batch of single results', () => {
    const size = 3
    const n = sample.args.length
    // Given values are the same in every draw: turned by one place for each example, so that examples differ.
    const turned = (a: NDArray, i: number, b: number): NDArray =>
      sample.args[i]!.values === undefined ? a : array(a.shape, a.dtype, (k) => a.data[(k + b) % a.data.length]!)
    for (let mask = 1; mask < 2 ** Math.min(n, 3); mask++) {
      const next = random(seed)
      const cases = Array.from({ length: size }, () => caseOf(primitive, sample, next))
      const one = cases[0]!
      const batched = one.inputs.map((_, i) => ((mask >> Math.min(i, 2)) & 1) === 1)
      const example = (i: number, b: number): NDArray => turned(cases[b]!.args[i]!, i, b)
      const wide = one.inputs.map((x, i) => (batched[i] ? input(aval([size, ...x.shape], x.dtype)) : x))
      const replaced = new Map(one.inputs.flatMap((x, i) => (batched[i] ? [[x, wide[i]!] as const] : [])))
      const together = one.inputs.map((x, i) => {
        if (!batched[i]) return one.args[i]!
        const parts = cases.map((_, b) => example(i, b))
        return array([size, ...x.shape], x.dtype, (k) => parts[Math.floor(k / x.aval.size)]!.data[k % x.aval.size]!)
      })
      const got = evaluateNodes(batch(registry, one.outputs, replaced, size), bind(wide, together))
      one.outputs.forEach((o, r) => {
        const want = cases.flatMap((_, b) => {
          const args = one.inputs.map((_x, i) => (batched[i] ? example(i, b) : one.args[i]!))
          return Array.from(evaluateNodes(one.outputs, bind(one.inputs, args))[r]!.data)
        })
        expect(got[r]!.shape).toEqual([size, ...o.shape])
        expect(got[r]!.dtype).toBe(o.dtype)
        expect(Array.from(got[r]!.data)).toEqual(want)
      })
    }
  })

  const trial = caseOf(primitive, sample, random(seed))
  const active = floats(trial)
  if (active.length === 0 || !trial.outputs.some((o) => isFloat(o.dtype))) return

  const results = (c: Case): readonly Node[] => c.outputs.filter((o) => isFloat(o.dtype))
  /** Cotangents of the float arguments, as nodes over the inputs and the results' cotangents. */
  const gradient = (c: Case) => {
    const outs = results(c)
    const yBars = outs.map((o) => input(o.aval))
    const wrt = active.map((i) => c.inputs[i]!)
    return { yBars, wrt, xBars: denseCotangents(pullback(registry, outs, yBars.map(asExpr), wrt), wrt) as Node[] }
  }

  it('pushes tangents forward as finite differences do, and its pullback is the adjoint', () => {
    const next = random(seed)
    const c = caseOf(primitive, sample, next)
    const outs = results(c)
    const dxs = c.args.map((a) => direction(a, next))
    const dInputs = active.map((i) => input(c.inputs[i]!.aval))
    const { tangents } = pushforward(registry, outs, new Map(active.map((i, j) => [c.inputs[i]!, dInputs[j]!])))
    const dense = tangents.map((d, i) => instantiate(d, outs[i]!.aval))
    const values = new Map([
      ...bind(c.inputs, c.args),
      ...bind(
        dInputs,
        active.map((i) => dxs[i]!),
      ),
    ])
    const dys = evaluateNodes(dense, values)
    const h = 1e-4
    const moved = (t: number) =>
      evaluateNodes(
        outs,
        bind(
          c.inputs,
          c.args.map((a, i) => (active.includes(i) ? along(a, dxs[i]!, t) : a)),
        ),
      )
    const [m2, m1, p1, p2] = [-2 * h, -h, h, 2 * h].map(moved)
    outs.forEach((_, r) => {
      const fd = Array.from(m2![r]!.data, (x, i) => (x - 8 * m1![r]!.data[i]! + 8 * p1![r]!.data[i]! - p2![r]!.data[i]!) / (12 * h))
      close(dys[r]!.data, fd, 1e-9, 'jvp')
    })
    const { yBars, xBars } = gradient(c)
    const yBarValues = outs.map((o) => array(o.shape, o.dtype, () => 2 * next() - 1))
    const pulled = evaluateNodes(xBars, new Map([...bind(c.inputs, c.args), ...bind(yBars, yBarValues)]))
    const left = dys.reduce((s, d, i) => s + dot(d, yBarValues[i]!), 0)
    const right = pulled.reduce((s, x, j) => s + dot(x, dxs[active[j]!]!), 0)
    close([right], [left], 1e-12, 'adjoint')
  })

  it('gives each argument the same cotangent, whoever else asks', () => {
    const next = random(seed)
    const c = caseOf(primitive, sample, next)
    const { yBars, wrt, xBars } = gradient(c)
    const values = new Map([
      ...bind(c.inputs, c.args),
      ...bind(
        yBars,
        yBars.map((y) => array(y.shape, y.dtype, () => next())),
      ),
    ])
    const whole = evaluateNodes(xBars, values)
    wrt.forEach((x, j) => {
      const alone = denseCotangents(pullback(registry, results(c), yBars.map(asExpr), [x]), [x]) as Node[]
      expect(evaluateNodes(alone, values)[0]).toEqual(whole[j])
    })
  })

  it('adds three contributions into one accumulator', () => {
    const next = random(seed)
    const c = caseOf(primitive, sample, next)
    const uses = [0, 1, 2].map(() => {
      const outs = applyAny(primitive, c.inputs, sample.params).filter((o) => isFloat(o.dtype))
      return { outs, yBars: outs.map((o) => input(o.aval)) }
    })
    const wrt = active.map((i) => c.inputs[i]!)
    const values = new Map([
      ...bind(c.inputs, c.args),
      ...uses.flatMap((u) => u.yBars.map((y) => [y, array(y.shape, y.dtype, () => 2 * next() - 1)] as const)),
    ])
    const pull = (list: typeof uses) => {
      const outs = list.flatMap((u) => u.outs)
      return evaluateNodes(
        denseCotangents(
          pullback(
            registry,
            outs,
            list.flatMap((u) => u.yBars.map(asExpr)),
            wrt,
          ),
          wrt,
        ) as Node[],
        values,
      )
    }
    const together = pull(uses)
    const apart = uses.map((u) => pull([u]))
    together.forEach((x, j) => {
      close(
        x.data,
        Array.from(x.data, (_, i) => apart.reduce((t, one) => t + one[j]!.data[i]!, 0)),
        1e-13,
        'sum of three',
      )
    })
  })

  it('has second derivatives: forward over reverse is finite differences of the gradient, symmetric, and reverse over reverse', () => {
    const next = random(seed)
    const c = caseOf(primitive, sample, next)
    const { yBars, wrt, xBars } = gradient(c)
    const yValues = bind(
      yBars,
      yBars.map((y) => array(y.shape, y.dtype, () => 2 * next() - 1)),
    )
    const vs = active.map((i) => direction(c.args[i]!, next))
    const ws = active.map((i) => direction(c.args[i]!, next))
    const dInputs = wrt.map((x) => input(x.aval))
    const pushed = pushforward(registry, xBars, new Map(wrt.map((x, j) => [x, dInputs[j]!])))
    const hv = pushed.tangents.map((d, j) => instantiate(d, wrt[j]!.aval))
    const values = new Map([...bind(c.inputs, c.args), ...yValues])
    const times = (d: readonly NDArray[]) => evaluateNodes(hv, new Map([...values, ...bind(dInputs, d)]))
    const hvs = times(vs)
    const h = 1e-4
    const gradientAt = (t: number) =>
      evaluateNodes(
        xBars,
        new Map([
          ...values,
          ...bind(
            wrt,
            active.map((i, j) => along(c.args[i]!, vs[j]!, t)),
          ),
        ]),
      )
    const [m2, m1, p1, p2] = [-2 * h, -h, h, 2 * h].map(gradientAt)
    hvs.forEach((x, j) => {
      const fd = Array.from(m2![j]!.data, (y, i) => (y - 8 * m1![j]!.data[i]! + 8 * p1![j]!.data[i]! - p2![j]!.data[i]!) / (12 * h))
      close(x.data, fd, 1e-8, 'Hessian times vector')
    })
    const symmetric = times(ws)
    close([hvs.reduce((s, x, j) => s + dot(x, ws[j]!), 0)], [symmetric.reduce((s, x, j) => s + dot(x, vs[j]!), 0)], 1e-11, 'symmetry')
    const inner = xBars.reduce((s, x, j) => add(s, sum(mul(asExpr(x), asExpr(dInputs[j]!)))), zeros([], 'f64'))
    const again = denseCotangents(pullback(registry, [asNode(inner)], [asExpr(constant(1, 'f64'))], wrt), wrt) as Node[]
    evaluateNodes(again, new Map([...values, ...bind(dInputs, vs)])).forEach((x, j) => {
      close(x.data, hvs[j]!.data, 1e-11, 'reverse over reverse')
    })
  })

  it('batches its own derivative', () => {
    const size = 2
    const next = random(seed)
    const c = caseOf(primitive, sample, next)
    const { yBars, xBars } = gradient(c)
    if (yBars.length === 0) return
    const wide = yBars.map((y) => input(aval([size, ...y.shape], y.dtype)))
    const all = wide.map((y) => array(y.shape, y.dtype, () => 2 * next() - 1))
    const got = evaluateNodes(
      batch(registry, xBars, new Map(yBars.map((y, i) => [y, wide[i]!])), size),
      new Map([...bind(c.inputs, c.args), ...bind(wide, all)]),
    )
    xBars.forEach((x, j) => {
      const want = Array.from({ length: size }, (_, b) => {
        const part = all.map((a, i) => array(yBars[i]!.shape, a.dtype, (k) => a.data[b * yBars[i]!.aval.size + k]!))
        return Array.from(evaluateNodes([x], new Map([...bind(c.inputs, c.args), ...bind(yBars, part)]))[0]!.data)
      }).flat()
      close(got[j]!.data, want, 1e-13, 'vmap of the pullback')
    })
  })
}

/** An expression's value as nested arrays. */
export const nested = (x: unknown): unknown => toNested(evaluated(x))
/** The gradient of the sum of f at x, by reverse mode; forward mode must agree. */
export const gradientOf = (f: (x: AnyExpr) => AnyExpr, shape: readonly number[], x: readonly number[]): number[] => {
  const at = input(aval(shape, 'f64'))
  const y = asNode(sum(f(asExpr(at))))
  const values = new Map([[at, array(shape, 'f64', (i) => x[i]!)]])
  const pulled = denseCotangents(pullback(registry, [y], [asExpr(constant(1, 'f64'))], [at]), [at]) as Node[]
  const dx = input(at.aval)
  const [tangent] = pushforward(registry, [y], new Map([[at, dx]])).tangents
  const dy = instantiate(tangent!, y.aval)
  const reverse = Array.from(evaluateNodes(pulled, values)[0]!.data)
  reverse.forEach((want, i) => {
    close(
      evaluateNodes([dy], new Map([...values, [dx, array(shape, 'f64', (k) => (k === i ? 1 : 0))]]))[0]!.data,
      [want],
      1e-12,
      `forward mode, entry ${i}`,
    )
  })
  return reverse
}
/** The tag of the error that f raises. */
export const errorOf = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.error._tag
    throw e
  }
  return 'none'
}
