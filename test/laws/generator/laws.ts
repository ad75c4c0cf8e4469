/** Laws beyond values and gradients, each checked for some seeds: duality, second order, the oracle, JSON, targets, batches. */
import { random } from '../../../src/check/index.js'
import { Dual } from '../../../src/core/calculus/dual.js'
import type { KeptArray, SyncBackend } from '../../../src/core/functions/backend.js'
import { interpretNodes } from '../../../src/core/functions/interpret.js'
import { type Aval, aval, isFloat } from '../../../src/core/graph/aval.js'
import { asNode, type Node } from '../../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import { sizeOf } from '../../../src/core/graph/shape.js'
import { Tensor as TensorClass } from '../../../src/core/graph/tensor.js'
import type { Tensor } from '../../../src/core/types/expr.js'
import { coreRegistry, dualAlgebra, reverseAlgebra } from '../../../src/index.js'
import { agree, derivative, fail, guarded, type Law, lossOf, onLane, type Subject, trace } from './checks.js'
import { coarsest } from './compare.js'
import { runOn } from './lanes.js'
import { ofArity } from './program.js'

type F = (...xs: readonly unknown[]) => unknown
const laneFor = (s: Subject) => s.lanes.lanes[Math.floor(s.program.seed / 7) % s.lanes.lanes.length]!
const directions = (s: Subject, seed: number): readonly TypedArray[] => {
  const next = random(s.program.seed + seed)
  return s.wrt.map((i) => {
    const a = s.avals[i]!
    const data = allocate(a.dtype, a.size)
    for (let k = 0; k < data.length; k++) data[k] = 2 * next() - 1
    return data
  })
}
const tuple = (xs: readonly unknown[]): unknown => (xs.length === 1 ? xs[0] : xs)
const tangentAvals = (s: Subject) => s.wrt.map((i) => s.avals[i]!)
/** f over the differentiated arguments alone, at the others; float results alone. */
const smoothPart =
  (s: Subject, floats: readonly number[], fixed: readonly unknown[]): F =>
  (...xs) => {
    const all = [...fixed]
    s.wrt.forEach((i, k) => {
      all[i] = xs[k]
    })
    const ys = s.f(...all)
    return floats.map((k) => ys[k])
  }

/** <yBar, jvp(v)> is <vjp(yBar), v>: both numbers and both lists in one program. */
const duality: Law = {
  name: 'duality of jvp and vjp',
  every: 5,
  check: (s, values, g) => {
    const [n, m] = [s.avals.length, s.wrt.length]
    const [sum, mul, add, cast] = [s.api.sum, s.api.mul, s.api.add, s.api.cast] as readonly F[]
    const inner = (as: readonly unknown[], bs: readonly unknown[]): unknown =>
      as.map((a, i) => cast!(sum!(mul!(a, bs[i])), 'f64')).reduce((a, b) => add!(a, b))
    const f: F = (...xs) => {
      const [args, dxs, yBars] = [xs.slice(0, n), xs.slice(n, n + m), xs.slice(n + m)]
      const part = ofArity(smoothPart(s, g.floats, args), m)
      const primals = s.wrt.map((i) => args[i])
      const [, dys] = ((s.api.jvp as F)(part) as F)(tuple(primals), tuple(dxs)) as readonly [unknown, readonly unknown[]]
      const [, bars] = ((s.api.vjp as F)(part) as F)(tuple(primals), yBars) as readonly [unknown, unknown]
      const xBars = m === 1 ? [bars] : (bars as readonly unknown[])
      return [inner(yBars, dys), inner(dxs, xBars), ...dys, ...xBars]
    }
    const avals = [...s.avals, ...tangentAvals(s), ...g.floats.map((k) => values.outputs[k]!.aval)]
    const p = derivative(s, 'duality', () => trace(f, avals))
    if (p === undefined) return
    const inputs = [...s.inputs, ...directions(s, 11), ...g.yBars]
    const want = guarded('duality on reference', () => runOn(s.lanes.oracle, p, inputs))
    agree('<yBar, jvp v> is not <vjp yBar, v>', [want[0]!], [want[1]!], [{ program: p, inputs }])
    onLane(laneFor(s), 'jvp and vjp', p, inputs, want)
  },
}
/** hvp against jvp of grad and the gradient of grad . v, and, where nothing is on a kink, central differences of the gradient. */
const secondOrder: Law = {
  name: 'second order',
  every: 6,
  check: (s, values, g) => {
    const [n, m] = [s.avals.length, s.wrt.length]
    const [sum, mul, add, cast] = [s.api.sum, s.api.mul, s.api.add, s.api.cast] as readonly F[]
    const ways = (xs: readonly unknown[]) => {
      const [args, dxs, yBars] = [xs.slice(0, n), xs.slice(n, n + m), xs.slice(n + m)]
      const part = smoothPart(s, g.floats, args)
      const loss: F = (...ys) => {
        const out = part(...ys) as readonly unknown[]
        return out.map((y, i) => cast!(sum!(mul!(y, yBars[i])), 'f64')).reduce((a, b) => add!(a, b))
      }
      const given = ofArity(loss, m)
      const wrt = m === 1 ? 0 : s.wrt.map((_, i) => i)
      const list = (t: unknown): readonly unknown[] => (m === 1 ? [t] : s.wrt.map((_, i) => (t as Record<number, unknown>)[i]))
      return { primals: s.wrt.map((i) => args[i]), dxs, loss: given, wrt, list, gradient: (s.api.grad as F)(given, { wrt }) as F }
    }
    const forwardOverReverse: F = (...xs) => {
      const { primals, dxs, loss, wrt, list } = ways(xs)
      return list(((s.api.hvp as F)(loss, { wrt }) as F)(tuple(primals), m === 1 ? dxs[0] : dxs))
    }
    const jvpOfGrad: F = (...xs) => {
      const { primals, dxs, gradient, list } = ways(xs)
      const own: F = (...ys) => list(gradient(...ys))
      return (((s.api.jvp as F)(ofArity(own, m)) as F)(tuple(primals), tuple(dxs)) as readonly unknown[])[1]
    }
    const gradOfProduct: F = (...xs) => {
      const { primals, dxs, gradient, list, wrt } = ways(xs)
      const product: F = (...ys) =>
        list(gradient(...ys))
          .map((y, i) => cast!(sum!(mul!(y, dxs[i])), 'f64'))
          .reduce((a, b) => add!(a, b))
      return list(((s.api.grad as F)(ofArity(product, m), { wrt }) as F)(...primals))
    }
    const avals = [...s.avals, ...tangentAvals(s), ...g.floats.map((k) => values.outputs[k]!.aval)]
    const inputs = [...s.inputs, ...directions(s, 13), ...g.yBars]
    const made = [forwardOverReverse, jvpOfGrad, gradOfProduct].map((f, i) =>
      derivative(s, ['hvp', 'jvp of grad', 'grad of grad . v'][i]!, () => trace(f, avals)),
    )
    const [first] = made
    if (first === undefined) return
    const want = guarded('hvp on reference', () => runOn(s.lanes.oracle, first, inputs))
    made.forEach((p, i) => {
      if (p === undefined) return
      onLane(
        s.lanes.lanes[(s.program.seed + i) % s.lanes.lanes.length]!,
        ['hvp', 'jvp of grad', 'grad of grad . v'][i]!,
        p,
        inputs,
        want,
        first,
      )
    })
  },
}

/** Duals and coduals of concrete arrays, one node at a time: what shares neither the modes' walks nor a plan. */
const oracle: Law = {
  name: 'duals and coduals one node at a time',
  every: 6,
  check: (s, values, g) => {
    const reverse = g.of('reverse')
    if (reverse === undefined) return
    const want = guarded('oracle, reverse on reference', () => runOn(s.lanes.oracle, reverse, g.inputs))
    // The loss as one program of arguments and cotangents, folded over concrete arrays.
    const avals = [...s.avals, ...g.floats.map((k) => values.outputs[k]!.aval)]
    const loss = trace((...xs) => (lossOf(s, g.floats)(...xs) as readonly unknown[])[0], avals)
    const tensors = loss.inputs.map((x, i) => new TensorClass(x.shape, x.dtype, g.inputs[i]!) as unknown as Tensor)
    const paths = new Map<Node, string>(loss.inputs.map((x, i) => [x, String(i)]))
    const eager = reverseAlgebra(coreRegistry, ({ path }) => tensors[Number(path)]!)
    const [y] = interpretNodes(eager.algebra, [asNode(loss.outputs[0])], undefined, paths)
    const one = allocate(loss.outputs[0]!.dtype, 1).fill(1)
    y!.add(new TensorClass([], loss.outputs[0]!.dtype, one as TypedArray) as unknown as Tensor)
    const bars = eager.back()
    const got = s.wrt.map((i) => {
      const bar = bars.get(String(i))
      return bar !== undefined && bar._tag === 'Tensor'
        ? (bar as unknown as TensorClass).data
        : allocate(s.avals[i]!.dtype, s.avals[i]!.size)
    })
    const gradients = gradientResults(reverse, s)
    agree(
      'coduals one node at a time',
      got,
      gradients.map((k) => want[k]!),
      [{ program: { ...reverse, outputs: gradients.map((k) => reverse.outputs[k]!) }, inputs: g.inputs }],
    )
    const dxs = directions(s, 17)
    const duals = loss.inputs.map((x, i) => {
      const k = s.wrt.indexOf(i)
      const dx = k < 0 ? undefined : (new TensorClass(x.shape, x.dtype, dxs[k]!) as unknown as Tensor)
      return Dual(tensors[i]!, dx ?? ({ _tag: isFloat(x.dtype) ? 'ZeroTangent' : 'NoTangent' } as never))
    })
    const [dual] = interpretNodes(
      dualAlgebra(coreRegistry, ({ path }) => duals[Number(path)]!),
      [asNode(loss.outputs[0])],
      undefined,
      paths,
    )
    const pushed = dual!.tangent._tag === 'Tensor' ? (dual!.tangent as unknown as TensorClass).data[0]! : 0
    let pulled = 0
    let size = 0
    gradients.forEach((k, j) => {
      want[k]!.forEach((v, i) => {
        pulled += v * dxs[j]![i]!
        size += Math.abs(v * dxs[j]![i]!)
      })
    })
    // A sum of products: its own rounding, and that of the gradient's entries.
    const f32 = coarsest(reverse) === 'f32'
    if (!(Math.abs(pushed - pulled) <= (f32 ? 2e-3 : 1e-9) * Math.max(size, 1e-3)) && Number.isFinite(pulled))
      fail('duals one node at a time', `the tangent of the loss is ${pushed}, the gradient along it ${pulled}`)
  },
}
interface Tree {
  readonly _tag: string
  readonly keys?: readonly string[]
  readonly items?: readonly Tree[]
}
/** Positions of the gradients among the results of value, gradients and results; trees have their keys in an order of their own. */
const gradientResults = (p: Program, s: Subject): readonly number[] => {
  const { keys, items } = p.outputTree as Tree
  const at = keys!.indexOf('grad')
  const start = items!.slice(0, at).reduce((n, x) => n + leaves(x), 0)
  return s.wrt.map((i) => start + items![at]!.keys!.indexOf(String(i)))
}
const leaves = ({ _tag, items }: Tree): number => (_tag === 'Leaf' ? 1 : (items ?? []).reduce((n, x) => n + leaves(x), 0))

/**
 * The gradient along a direction against differences of the values, of the reference. Where the two sides or two steps differ there is a kink
 * between them, and nothing is said.
 */
const differences: Law = {
  name: 'differences',
  every: 4,
  check: (s, values, g) => {
    const p = g.of('mixed')
    if (p === undefined || s.program.kinked === true || p.outputs.some((o) => o.dtype === 'f32')) return
    if (JSON.stringify(s.program.steps).includes('"stopGradient"')) return
    const dxs = directions(s, 19)
    const want = guarded('differences on reference', () => runOn(s.lanes.oracle, p, g.inputs))
    let slope = 0
    let size = 0
    gradientResults(p, s).forEach((k, j) => {
      want[k]!.forEach((v, i) => {
        slope += v * dxs[j]![i]!
        size += Math.abs(v * dxs[j]![i]!)
      })
    })
    const at = (t: number): number => {
      const inputs = s.inputs.map((x, i) => {
        const k = s.wrt.indexOf(i)
        return k < 0 ? x : (x.map((v, j) => v + t * dxs[k]![j]!) as TypedArray)
      })
      const ys = runOn(s.lanes.oracle, values, inputs)
      let loss = 0
      g.floats.forEach((f, k) => {
        ys[f]!.forEach((y, i) => {
          loss += y * g.yBars[k]![i]!
        })
      })
      return loss
    }
    const h = 2e-6
    const [middle, up, down, near, far] = [at(0), at(h), at(-h), at(h / 4), at(-h / 4)]
    const limit = 1e-5 * Math.max(size, Math.abs(slope), 1e-2) + (1e-13 * Math.abs(middle)) / h
    const estimates = [(up - middle) / h, (middle - down) / h, (up - down) / (2 * h), (2 * (near - far)) / h]
    const spread = Math.max(...estimates) - Math.min(...estimates)
    if (!(spread <= 10 * limit)) return
    const central = estimates[2]!
    if (!(Math.abs(central - slope) <= 2 * spread + limit))
      fail('differences', `the gradient along a direction is ${slope}, differences say ${central}`)
  },
}

/** A program written as JSON and read again computes the same, to the bit. */
const json: Law = {
  name: 'JSON and back',
  every: 7,
  check: (s, values) => {
    if (/"(rule|shown|shownBack)"/.test(JSON.stringify(s.program.steps))) return
    const text = JSON.stringify((s.api.toJSON as F)(values))
    const read = (s.api.fromJSON as F)(JSON.parse(text)) as { readonly _tag: string; readonly right?: Program }
    if (read._tag !== 'Right') return fail('JSON and back', `is refused: ${JSON.stringify(read).slice(0, 300)}`)
    const want = runOn(s.lanes.oracle, values, s.inputs)
    const got = runOn(s.lanes.oracle, read.right!, s.inputs)
    got.forEach((x, k) => {
      x.forEach((v, i) => {
        if (!Object.is(v, want[k]![i])) fail('JSON and back', `result ${k}, entry ${i} is ${v}, it was ${want[k]![i]}`)
      })
    })
  },
}

/** Targets that are inputs, and targets that results are added to: inputs are read before anything is written. */
const targets: Law = {
  name: 'into inputs, and accumulated',
  every: 5,
  check: (s, _, g) => {
    const p = g.of('mixed')
    if (p === undefined) return
    const lane = laneFor(s)
    const want = guarded('targets on reference', () => runOn(s.lanes.oracle, p, g.inputs))
    const executable = lane.backend.prepare(p)
    try {
      const inputs = g.inputs.map((x) => x.slice())
      const taken = new Set<TypedArray>()
      const into = p.outputs.map((o) => {
        const same = inputs.find((x, i) => !taken.has(x) && p.inputs[i]!.dtype === o.dtype && p.inputs[i]!.shape.join() === o.shape.join())
        if (same !== undefined) taken.add(same)
        return same ?? allocate(o.dtype, o.aval.size)
      })
      executable.run(inputs, into)
      agree(`into inputs on ${lane.name}`, into, want, [{ program: p, inputs: g.inputs }])
      if (p.outputs.some((o) => !isFloat(o.dtype))) return
      const sums = p.outputs.map((o) => allocate(o.dtype, o.aval.size).fill(0.5) as TypedArray)
      executable.run(g.inputs, sums, true)
      const plus = want.map((w) => w.map((v) => v + 0.5) as TypedArray)
      agree(`accumulated on ${lane.name}`, sums, plus, [{ program: p, inputs: g.inputs }])
    } finally {
      executable.dispose()
    }
  },
}

/** Arguments, captured elements and targets that stay in the backend's memory: pointed at, in place where the plan allows it, and nothing else is written. */
const kept: Law = {
  name: 'kept in the memory of the backend',
  every: 3,
  check: (s, _, g) => {
    const p = g.of('mixed')
    const lane = laneFor(s)
    const keep = (lane.backend as SyncBackend).keep
    if (p === undefined || keep === undefined) return
    const want = guarded('kept on reference', () => runOn(s.lanes.oracle, p, g.inputs))
    const executable = lane.backend.prepare(p)
    const all: KeptArray[] = []
    const place = (data: TypedArray, { shape, dtype }: Aval): KeptArray => {
      const array = keep({ data, shape, dtype })
      if (array === undefined) return fail('kept', 'nothing runs, and there is no room')
      all.push(array)
      return array
    }
    try {
      const next = random(s.program.seed + 17)
      const some = (): boolean => next() < 0.7
      // Calls of one executable with other arrays in place: what one call points at, the next must not.
      for (let call = 0; call < 4; call++) {
        const read = g.inputs.map((x, i) => (some() ? place(x, p.inputs[i]!.aval) : undefined))
        const inputs = (): readonly TypedArray[] => g.inputs.map((x, i) => read[i]?.data ?? x)
        const same = `kept, call ${call} on ${lane.name}`
        if (call % 2 === 0) agree(same, executable.run(inputs()), want, [{ program: p, inputs: g.inputs }])
        const taken = new Set<KeptArray>()
        const targets = p.outputs.map((o) => {
          const own = read.find(
            (x, i) =>
              x !== undefined && !taken.has(x) && p.inputs[i]!.dtype === o.dtype && p.inputs[i]!.shape.join() === o.shape.join() && some(),
          )
          if (own !== undefined) taken.add(own)
          return own ?? (some() ? place(allocate(o.dtype, o.aval.size), o.aval) : undefined)
        })
        const into = p.outputs.map((o, k) => targets[k]?.data ?? allocate(o.dtype, o.aval.size))
        executable.run(inputs(), into)
        agree(
          `${same}, into`,
          into.map((x, k) => targets[k]?.data ?? x),
          want,
          [{ program: p, inputs: g.inputs }],
        )
        read.forEach((x, i) => {
          if (x === undefined || taken.has(x)) return
          x.data.forEach((v, j) => {
            if (!Object.is(v, g.inputs[i]![j])) fail('kept', `argument ${i}, entry ${j}, was written: ${v} in place of ${g.inputs[i]![j]}`)
          })
        })
      }
    } finally {
      executable.dispose()
      for (const x of all) x.dispose()
    }
  },
}

/** Examples of one shape, put together along a new axis; and the example k of that. */
const along = (rows: readonly TypedArray[], { shape, dtype, size }: Aval, axis: number): TypedArray => {
  const [n, inner] = [rows.length, sizeOf(shape.slice(axis))]
  const all = allocate(dtype, n * size)
  rows.forEach((row, k) => {
    for (let i = 0; i < size; i++) all[(Math.floor(i / inner) * n + k) * inner + (i % inner)] = row[i]!
  })
  return all
}
const example = (all: TypedArray, n: number, k: number, { shape, dtype, size }: Aval, axis: number): TypedArray => {
  const inner = sizeOf(shape.slice(axis))
  const row = allocate(dtype, size)
  for (let i = 0; i < size; i++) row[i] = all[(Math.floor(i / inner) * n + k) * inner + (i % inner)]!
  return row
}

/** vmap over any axis of each argument gives, at each index of any axis of each result, what the function gives there. */
const batches: Law = {
  name: 'vmap is a loop',
  every: 8,
  check: (s, values) => {
    if (s.program.kinked === true || s.avals.length === 0) return
    const n = 2
    const next = random(s.program.seed)
    // Half of the programs along the leading axes, which is what most use.
    const leading = next() < 0.5
    const axisOf = (rank: number): number => (leading ? 0 : Math.floor(next() * (rank + 1)))
    const axes = s.avals.map((a, i) => ((s.program.seed >> i) % 3 !== 0 || i === 0 ? axisOf(a.shape.length) : null))
    const outs = values.outputs.map((o) => axisOf(o.shape.length))
    /** An axis of an array of one axis more than this, sometimes counted from the back. */
    const signed = (axis: number, { shape }: Aval): number => (!leading && next() < 0.5 ? axis - shape.length - 1 : axis)
    const rows = [s.inputs, s.inputs.map((x, i) => (axes[i] === null ? x : moved(x)))]
    const avals = s.avals.map((a, i) =>
      axes[i] === null ? a : aval([...a.shape.slice(0, axes[i]!), n, ...a.shape.slice(axes[i]!)], a.dtype),
    )
    const f = (s.api.vmap as F)(s.f, {
      inAxes: axes.map((axis, i) => (axis === null ? null : signed(axis, s.avals[i]!))),
      outAxes: outs.map((axis, j) => signed(axis, values.outputs[j]!.aval)),
    }) as F
    const p = derivative(s, 'vmap', () => trace(f, avals))
    if (p === undefined) return
    const inputs = s.inputs.map((x, i) =>
      axes[i] === null
        ? x
        : along(
            rows.map((r) => r[i]!),
            s.avals[i]!,
            axes[i]!,
          ),
    )
    const want = guarded('vmap on reference', () => runOn(s.lanes.oracle, p, inputs))
    rows.forEach((r, k) => {
      const one = guarded('a row on reference', () => runOn(s.lanes.oracle, values, r))
      const got = want.map((w, j) => example(w, n, k, values.outputs[j]!.aval, outs[j]!))
      agree('vmap, a row', got, one, [{ program: values, inputs: r }])
    })
    onLane(laneFor(s), 'vmap', p, inputs, want)
  },
}
/** Arguments close by, on the same side of every kink. */
const moved = (x: TypedArray): TypedArray =>
  x instanceof Float64Array || x instanceof Float32Array ? (x.map((v) => v * (1 + 1e-7)) as TypedArray) : x.slice()

export const laws: readonly Law[] = [duality, secondOrder, oracle, differences, json, targets, kept, batches]
