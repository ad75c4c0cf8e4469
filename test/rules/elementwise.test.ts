// Every elementwise primitive at every sample: value, both modes against each other and against finite differences, second order, dtypes, batches.
import { describe, expect, it } from 'vitest'
import { isFloat } from '../../src/core/graph/aval.js'
import { asExpr, asNode, input } from '../../src/core/graph/expr.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import { type Forced, unthunk } from '../../src/core/graph/tangent.js'
import { compare, elementwise } from '../../src/core/ops/families.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import {
  argumentsOf,
  arrayOf,
  backward,
  dot,
  dotAll,
  evaluate,
  fivePoints,
  forward,
  gradient,
  graphOf,
  isActive,
  moved,
  primitiveGraph,
  registry,
  uniform,
  zerosOf,
} from './elementwise-calculus.js'

const differentiable = Object.values(elementwise) as readonly AnyPrimitive[]
const predicates = Object.values(compare) as readonly AnyPrimitive[]
const all = [...differentiable, ...predicates]
/** Its derivative is not the limit of differences, by definition. */
const detached = elementwise.stopGradient as AnyPrimitive

/** The sample at work, for messages. */
let where = ''
const label = (sample: Sample, i: number): string => `sample ${i}: ${sample.args.map((a) => `${a.dtype ?? 'f64'} [${a.shape}]`).join(', ')}`
const close = (got: number, want: number, tolerance: number, what: string): void => {
  const error = Math.abs(got - want)
  const scale = Math.max(1, Math.abs(want))
  expect(error <= tolerance * scale, `${where}: ${what}: ${got} is not ${want} (error ${error})`).toBe(true)
}

/** Draws that depend on the primitive alone: one more primitive changes those of no other. */
const seedOf = (name: string): number => [...name].reduce((h, c) => (31 * h + c.charCodeAt(0)) % 1_000_003, 7)
const eachSample = (prims: readonly AnyPrimitive[], run: (prim: AnyPrimitive, sample: Sample, random: () => number) => void): void => {
  for (const prim of prims)
    it(prim.name, () => {
      prim.samples.forEach((sample, i) => {
        where = `${prim.name}, ${label(sample as Sample, i)}`
        run(prim, sample as Sample, uniform(1000 * seedOf(prim.name) + i))
      })
    })
}
const directions = (args: readonly ReturnType<typeof zerosOf>[], random: () => number) =>
  args.map((a) => (isActive(a) ? arrayOf(a.shape, a.dtype, () => 2 * random() - 1) : zerosOf(a)))

describe('every primitive is declared in full', () => {
  it('has samples, a source, and a rule with all facets', () => {
    for (const prim of all) {
      expect(prim.samples.length, prim.name).toBeGreaterThan(2)
      expect(prim.source, prim.name).not.toBe('')
      const rule = registry.rules.get(prim.name)
      expect(rule?.primitive, prim.name).toBe(prim)
      expect(
        [rule?.frule, rule?.rrule, rule?.batch].map((f) => typeof f),
        prim.name,
      ).toEqual(['function', 'function', 'function'])
    }
    expect(registry.duplicates).toEqual([])
  })
  it('samples cover rank 0, an empty array and broadcasting', () => {
    for (const prim of all) {
      const shapes = prim.samples.map((s) => s.args.map((a) => a.shape))
      expect(
        shapes.some((s) => s.every((d) => d.length === 0)),
        prim.name,
      ).toBe(true)
      if (prim.name !== 'cast')
        expect(
          shapes.some((s) => s.some((d) => sizeOf(d) === 0)),
          prim.name,
        ).toBe(true)
      if (prim.args.length > 1)
        expect(
          shapes.some((s) => s.some((d) => d.length !== s[0]!.length)),
          prim.name,
        ).toBe(true)
    }
  })
})

describe('the tangent is the derivative of the value', () => {
  eachSample(
    differentiable.filter((p) => p !== detached),
    (prim, sample, random) => {
      const args = argumentsOf(sample, random)
      const g = primitiveGraph(prim, sample.params, args)
      const dxs = directions(args, random)
      const dy = forward(g, args, dxs)
      expect([dy.shape, dy.dtype]).toEqual([g.output.shape, g.output.dtype])
      if (!isFloat(g.output.dtype)) return
      // Only casts have f32 results here; they are linear, so a long step is exact.
      const [h, tolerance] = g.output.dtype === 'f32' ? [0.25, 1e-5] : [5e-4, 1e-8]
      for (let i = 0; i < dy.data.length; i++) {
        const along = (t: number): number => evaluate([g.output], g.inputs, moved(args, dxs, t))[0]!.data[i]!
        close(dy.data[i]!, fivePoints(along, h), tolerance, `element ${i}`)
      }
    },
  )
})

describe('the cotangents are the adjoint of the tangent', () => {
  eachSample(all, (prim, sample, random) => {
    const args = argumentsOf(sample, random)
    const g = primitiveGraph(prim, sample.params, args)
    const yBar = arrayOf(g.output.shape, g.output.dtype, () => 2 * random() - 1)
    const xBars = backward(g, args, yBar)
    xBars.forEach((xBar, i) => {
      expect([xBar.shape, xBar.dtype]).toEqual([args[i]!.shape, args[i]!.dtype])
    })
    if (!isFloat(g.output.dtype)) {
      for (const xBar of xBars) expect(Array.from(xBar.data).every((v) => v === 0)).toBe(true)
      return
    }
    const dxs = directions(args, random)
    close(dotAll(xBars, dxs), dot(yBar, forward(g, args, dxs)), g.output.dtype === 'f32' ? 1e-6 : 1e-12, 'inner products')
  })
})

describe('the derivative of the derivative', () => {
  eachSample(
    differentiable.filter((p) => p !== detached && p !== (elementwise.cast as AnyPrimitive)),
    (prim, sample, random) => {
      const args = argumentsOf(sample, random)
      const g = primitiveGraph(prim, sample.params, args)
      if (!isFloat(g.output.dtype)) return
      const wrt = g.inputs.filter(isActive)
      const first = gradient(g, wrt)
      const yBar = arrayOf(g.output.shape, g.output.dtype, () => 2 * random() - 1)
      const us = wrt.map((x) => arrayOf(x.shape, x.dtype, () => 2 * random() - 1))
      const values = [...args, yBar]
      const inputs = [...g.inputs, first.seed]
      const kept = first.output.flatMap((c, i) => (c._tag === 'Expr' ? [{ node: asNode(c), u: us[i]! }] : []))
      const along = (dxs: readonly ReturnType<typeof zerosOf>[], t: number): number =>
        evaluate(
          kept.map((k) => k.node),
          inputs,
          [...moved(args, dxs, t), yBar],
        ).reduce((s, v, i) => s + dot(v, kept[i]!.u), 0)
      const dxs = directions(args, random)
      const expected = fivePoints((t) => along(dxs, t), 5e-4)

      // Reverse over reverse.
      const seeds = kept.map((k) => input(k.node.aval))
      const again = pullback(
        registry,
        kept.map((k) => k.node),
        seeds.map(asExpr),
        wrt,
      ).cotangents
      const evaluateAll = (ts: readonly Forced[]): number => {
        const at = ts.flatMap((t, i) => (t._tag === 'Expr' ? [{ t: asNode(t), i }] : []))
        const out = evaluate(
          at.map((a) => a.t),
          [...inputs, ...seeds],
          [...values, ...kept.map((k) => k.u)],
        )
        const floats = dxs.filter((_, i) => isActive(args[i]!))
        return out.reduce((s, v, k) => s + dot(v, floats[at[k]!.i]!), 0)
      }
      close(evaluateAll(again), expected, 1e-7, 'reverse over reverse')

      // Forward over reverse.
      const tangentSeeds = wrt.map((x) => input(x.aval))
      const pushed = pushforward(
        registry,
        kept.map((k) => k.node),
        new Map(wrt.map((x, i) => [x, tangentSeeds[i]!])),
      ).tangents.map(unthunk)
      const floats = dxs.filter((_, i) => isActive(args[i]!))
      const nodes = pushed.flatMap((t, i) => (t._tag === 'Expr' ? [{ t: asNode(t), u: kept[i]!.u }] : []))
      const out = evaluate(
        nodes.map((n) => n.t),
        [...inputs, ...tangentSeeds],
        [...values, ...floats],
      )
      close(
        out.reduce((s, v, i) => s + dot(v, nodes[i]!.u), 0),
        expected,
        1e-7,
        'forward over reverse',
      )
    },
  )
})

describe('f32 in, f32 out', () => {
  eachSample(differentiable, (prim, sample, random) => {
    const args = argumentsOf(sample, random, 'f32')
    const g = primitiveGraph(prim, sample.params, args)
    if (prim !== (elementwise.cast as AnyPrimitive) && sample.args.some((a) => a.dtype === undefined))
      expect(g.output.dtype, where).toBe('f32')
    if (!isFloat(g.output.dtype)) return
    const wide = args.map((a) => (a.dtype === 'f32' ? arrayOf(a.shape, 'f64', (i) => a.data[i]!) : a))
    const gw = primitiveGraph(prim, sample.params, wide)
    const [y] = evaluate([g.output], g.inputs, args)
    const [yw] = evaluate([gw.output], gw.inputs, wide)
    expect(Array.from(y!.data)).toEqual(Array.from(yw!.data, g.output.dtype === 'f32' ? Math.fround : (v) => v))
    const yBar = arrayOf(g.output.shape, g.output.dtype, () => Math.fround(2 * random() - 1))
    const narrow = backward(g, args, yBar)
    const exact = backward(
      gw,
      wide,
      arrayOf(gw.output.shape, gw.output.dtype, (i) => yBar.data[i]!),
    )
    narrow.forEach((xBar, k) => {
      expect(xBar.dtype).toBe(args[k]!.dtype)
      for (let i = 0; i < xBar.data.length; i++) close(xBar.data[i]!, exact[k]!.data[i]!, 2e-5, `cotangent ${k}, element ${i}`)
    })
  })
})

describe('kinks: the stated partials, in both modes', () => {
  for (const prim of differentiable)
    for (const kink of prim.kinks)
      it(`${prim.name} at ${kink.at}: ${kink.why}`, () => {
        const args = kink.at.map((x) => arrayOf([], 'f64', () => x))
        const g = primitiveGraph(prim, {}, args)
        const one = arrayOf([], 'f64', () => 1)
        expect(backward(g, args, one).map((a) => a.data[0]! + 0)).toEqual(kink.partials)
        kink.partials.forEach((p, k) => {
          const dxs = args.map((_, i) => arrayOf([], 'f64', () => (i === k ? 1 : 0)))
          const seeds = new Map([[g.inputs[k]!, input(g.inputs[k]!.aval)]])
          const [t] = pushforward(registry, [g.output], seeds).tangents
          const value = t!._tag === 'Expr' ? evaluate([asNode(t!)], [...g.inputs, ...seeds.values()], [...args, dxs[k]!])[0]!.data[0]! : 0
          expect(value + 0).toBe(p)
        })
      })
})

describe('a batch is each example by itself', () => {
  eachSample(all, (prim, sample, random) => {
    const size = 3
    const batch = registry.rules.get(prim.name)!.batch!
    const masks =
      sample.args.length === 1
        ? [[true]]
        : [sample.args.map(() => true), sample.args.map((_, i) => i === 0), sample.args.map((_, i) => i > 0)]
    for (const mask of masks) {
      const each = Array.from({ length: size }, () => argumentsOf(sample, random))
      const args = mask.map((b, i) => {
        const own = each.map((e) => e[i]!)
        const n = sizeOf(own[0]!.shape)
        return b ? arrayOf([size, ...own[0]!.shape], own[0]!.dtype, (k) => own[Math.floor(k / n)]!.data[k % n]!) : own[0]!
      })
      const g = graphOf(args, (xs) => batch(xs, mask, sample.params as never, size, () => [])[0]!)
      const [y] = evaluate([g.output], g.inputs, args)
      each.forEach((e, k) => {
        const own = mask.map((b, i) => (b ? e[i]! : each[0]![i]!))
        const single = primitiveGraph(prim, sample.params, own)
        const [want] = evaluate([single.output], single.inputs, own)
        expect(g.output.shape).toEqual([size, ...single.output.shape])
        expect(Array.from(y!.data).slice(k * want!.data.length, (k + 1) * want!.data.length)).toEqual(Array.from(want!.data))
      })
    }
  })
})
