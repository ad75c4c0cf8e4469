/** The operators users call: grad, valueAndGrad, jvp, vjp, linearize, jacfwd, jacrev, hessian, hvp, vmap. They take and give functions. */
import { isFloat } from '../core/aval.js'
import { callable, type Meta, metaOf, onFresh, type Runtime } from '../core/callable.js'
import { raise } from '../core/explain.js'
import { asExpr, asNode, input, type Node } from '../core/expr.js'
import { lift } from '../core/lift.js'
import { broadcastNode, reshapeNode } from '../core/ops/layout.js'
import { liftTree } from '../core/program.js'
import type { Registry } from '../core/registry.js'
import { sizeOf } from '../core/shape.js'
import { blaming, raiseAt } from '../core/sites.js'
import { NoTangent, type Tangent } from '../core/tangent.js'
import { zeroTensor } from '../core/tensor.js'
import { flatten, leafCount, leafPaths, sameDef, selectPath, showDef, type TreeDef, unflatten } from '../core/tree.js'
import type { DType } from '../core/types/dtype.js'
import { instantiate, ones } from './common.js'
import { regionized } from './mixed.js'
import { denseCotangents } from './reverse.js'
import { pullback, pushforward } from './transform.js'
import { batch, unbatched } from './vmap.js'

export type Mode = 'mixed' | 'reverse' | 'forward'
export type WrtPath = string | number
export interface GradOptions {
  readonly wrt?: WrtPath | readonly WrtPath[]
  readonly mode?: Mode
  readonly seed?: unknown
  readonly aux?: boolean
}
type Callable = (...args: readonly unknown[]) => unknown

/** The identity matrix: the basis that jacobians push or pull, all rows at once. */
const eyeNode = (n: number, dtype: DType): Node => {
  const t = zeroTensor([n, n], dtype)
  for (let i = 0; i < n; i++) t.data[i * n + i] = 1
  return t.node
}

/** What wrt selects: leaves of the argument list, and the tree in which their gradients are given. */
interface Selection {
  /** Positions among the leaves of all arguments. */
  readonly at: readonly number[]
  readonly def: TreeDef
}

const select = (def: TreeDef, wrt: GradOptions['wrt'], op: string): Selection => {
  // The argument list is a tuple; one argument stands for itself.
  const items = (def as Extract<TreeDef, { _tag: 'Tuple' }>).items
  const base = items.length === 1 ? { start: 0, def: items[0]! } : { start: 0, def }
  const one = (path: WrtPath): { readonly start: number; readonly def: TreeDef } => {
    const direct = selectPath(base.def, path)
    if (direct !== undefined) return direct
    if (items.length === 1 && Number(path) === 0) return base
    return raise({
      _tag: 'BadInput',
      where: op,
      reason: `wrt '${path}' names nothing in ${showDef(base.def)}.`,
      fix: `use one of ${leafPaths(base.def).slice(0, 6).join(', ')}.`,
    })
  }
  const span = (s: { readonly start: number; readonly def: TreeDef }): number[] =>
    Array.from({ length: leafCount(s.def) }, (_, i) => s.start + i)
  if (wrt === undefined) {
    const first = items.length === 0 ? raise({ _tag: 'BadInput', where: op, reason: 'the function has no arguments.' }) : items[0]!
    return { at: span({ start: 0, def: first }), def: first }
  }
  if (Array.isArray(wrt)) {
    const parts = (wrt as readonly WrtPath[]).map((p) => ({ key: String(p), ...one(p) }))
    // Record keys are kept sorted, as everywhere in trees.
    parts.sort((a, b) => (a.key < b.key ? -1 : 1))
    return { at: parts.flatMap(span), def: { _tag: 'Record', keys: parts.map((p) => p.key), items: parts.map((p) => p.def) } }
  }
  const s = one(wrt as WrtPath)
  return { at: span(s), def: s.def }
}

/** A tree of gradients: NoTangent at leaves without a tangent space. */
const gradientTree = (def: TreeDef, leaves: readonly (Node | NoTangent)[]): unknown =>
  unflatten(
    def,
    leaves.map((l) => (l._tag === 'NoTangent' ? NoTangent : asExpr(l))),
  )

const activeLeaves = (leaves: readonly Node[], s: Selection, op: string, explicit: boolean): Node[] => {
  const chosen = s.at.map((i) => leaves[i]!)
  if (!chosen.some((n) => isFloat(n.dtype)))
    raise({
      _tag: 'NotDifferentiable',
      op,
      reason:
        chosen.length === 0
          ? 'wrt selects no leaf'
          : `${explicit ? 'wrt selects' : 'the first argument has'} only ${[...new Set(chosen.map((n) => n.dtype))].join(' and ')} leaves`,
    })
  return chosen
}

/** Reverse or mixed cotangents of wrt; forward computes them by one vmapped jvp per leaf. */
const cotangents = (
  registry: Registry,
  mode: Mode,
  outputs: readonly Node[],
  seeds: readonly Tangent[],
  wrt: readonly Node[],
): { readonly values: readonly Node[]; readonly grads: readonly (Node | NoTangent)[] } => {
  if (mode === 'forward') {
    const grads = wrt.map((w) => {
      if (!isFloat(w.dtype)) return NoTangent
      const n = w.aval.size
      const dx = input(w.aval, 'dx')
      const { tangents } = pushforward(registry, outputs, new Map([[w, dx]]))
      const basis = reshapeNode(eyeNode(n, w.dtype), [n, ...w.shape])
      const parts = outputs.map((o, i) => {
        const dy = instantiate(tangents[i]!, o.aval)
        return { dy, seed: instantiate(seeds[i]!, o.aval) }
      })
      const contracted = parts.map(({ dy, seed }) => dotAll(dy, seed)).reduce(addNodes)
      return reshapeNode(batch(registry, [contracted], new Map([[dx, basis]]), n)[0]!, w.shape)
    })
    return { values: outputs, grads }
  }
  const prepared = mode === 'mixed' ? blaming(outputs, () => regionized(outputs, wrt)) : outputs
  const r = pullback(registry, prepared, seeds, wrt)
  return { values: r.values, grads: denseCotangents(r, wrt) }
}

import { add, mul } from '../core/ops/elementwise.js'
import { sum } from '../core/ops/reduce.js'

const dotAll = (a: Node, b: Node): Node => asNode(a.shape.length === 0 ? mul(asExpr(a), asExpr(b)) : sum(mul(asExpr(a), asExpr(b))))
const addNodes = (a: Node, b: Node): Node => asNode(add(asExpr(a), asExpr(b)))

const derived = (f: Meta, name: string, body: Meta['body']): Meta => ({
  name: `${name}(${f.name})`,
  arity: f.arity,
  body,
  ...(f.declared && { declared: f.declared }),
})

const valueGrad =
  (registry: Registry, f: Meta, options: GradOptions, op: string) => (args: readonly unknown[], leaves: readonly Node[], def: TreeDef) => {
    const out = f.body(args, true)
    const [lossTree, aux] = options.aux === true ? (out as readonly [unknown, unknown]) : [out, undefined]
    const { nodes, def: outDef } = liftTree(lossTree, `the result of ${f.name}`)
    const loss = nodes[0]
    if (outDef._tag !== 'Leaf' || loss === undefined || loss.shape.length !== 0 || !isFloat(loss.dtype))
      return raiseAt(loss, { _tag: 'NotScalar', op, shape: loss?.shape ?? [], dtype: loss?.dtype ?? 'f64' })
    const s = select(def, options.wrt, op)
    const wrt = activeLeaves(leaves, s, op, options.wrt !== undefined)
    const seed = options.seed === undefined ? asExpr(ones(loss.aval)) : asExpr(broadcastNode(lift(options.seed, op, loss.dtype), []))
    const auxNodes = options.aux === true ? liftTree(aux, 'aux') : undefined
    const r = cotangents(registry, options.mode ?? 'mixed', [loss], [seed], wrt)
    return {
      value: asExpr(r.values[0]!),
      aux: auxNodes && unflatten(auxNodes.def, auxNodes.nodes.map(asExpr)),
      grad: gradientTree(s.def, r.grads),
    }
  }

export const makeOperators = (registry: Registry, runtime: Runtime) => {
  const make = (meta: Meta): Callable => callable(runtime, meta)

  const grad = (f: unknown, options: GradOptions = {}): Callable => {
    const m = metaOf(f)
    return make(
      derived(m, 'grad', (args, fresh) =>
        onFresh(args, fresh, (a, l, d) => {
          const r = valueGrad(registry, m, options, 'grad')(a, l, d)
          return options.aux === true ? [r.grad, r.aux] : r.grad
        }),
      ),
    )
  }

  const valueAndGrad = (f: unknown, options: GradOptions = {}): Callable => {
    const m = metaOf(f)
    return make(
      derived(m, 'valueAndGrad', (args, fresh) =>
        onFresh(args, fresh, (a, l, d) => {
          const r = valueGrad(registry, m, options, 'valueAndGrad')(a, l, d)
          return options.aux === true ? { value: r.value, aux: r.aux, grad: r.grad } : { value: r.value, grad: r.grad }
        }),
      ),
    )
  }

  /** Primals of a function: its argument, or the tuple of its arguments. */
  const spread = (m: Meta, primals: unknown): readonly unknown[] => {
    if (m.declared !== undefined || m.arity <= 1) return [primals]
    if (!Array.isArray(primals) || primals.length !== m.arity)
      return raise({ _tag: 'BadInput', where: m.name, reason: `takes ${m.arity} arguments; primals must be their tuple.` })
    return primals
  }

  /** Values and tangents of f's outputs along tangents of its float leaves (NoTangent or absent elsewhere). */
  const push = (
    m: Meta,
    primals: unknown,
    tangents: unknown,
  ): { def: TreeDef; values: readonly Node[]; dys: readonly (Node | NoTangent)[] } => {
    const p = liftTree(primals, 'primals')
    const out = liftTree(m.body(spread(m, primals), true), `the result of ${m.name}`)
    const seeds = new Map<Node, Node>()
    const dx = tangentLeaves(p, tangents, m.name)
    p.nodes.forEach((x, i) => {
      const d = dx[i]
      if (d !== undefined) seeds.set(x, d)
    })
    const r = pushforward(registry, out.nodes, seeds)
    return {
      def: out.def,
      values: r.values,
      dys: r.tangents.map((t, i) => (isFloat(out.nodes[i]!.dtype) ? instantiate(t, out.nodes[i]!.aval) : NoTangent)),
    }
  }

  const jvp = (f: unknown): Callable => {
    const m = metaOf(f)
    return make({
      name: `jvp(${m.name})`,
      arity: 2,
      body: (args, fresh) =>
        onFresh(args, fresh, ([primals, tangents]) => {
          const r = push(m, primals, tangents)
          return [unflatten(r.def, r.values.map(asExpr)), gradientTree(r.def, r.dys)]
        }),
    })
  }

  const pull = (m: Meta, primals: unknown, seedsOf: (out: { nodes: Node[]; def: TreeDef }) => readonly Tangent[], mode: Mode = 'mixed') => {
    const p = liftTree(primals, 'primals')
    const out = liftTree(m.body(spread(m, primals), true), `the result of ${m.name}`)
    const r = cotangents(registry, mode, out.nodes, seedsOf(out), p.nodes)
    return { def: out.def, values: r.values, inputs: p.def, grads: r.grads }
  }

  const vjp = (f: unknown): Callable => {
    const m = metaOf(f)
    return make({
      name: `vjp(${m.name})`,
      arity: 2,
      body: (args, fresh) =>
        onFresh(args, fresh, ([primals, yBar]) => {
          const r = pull(m, primals, (out) => cotangentLeaves(out, yBar, m.name))
          return [unflatten(r.def, r.values.map(asExpr)), gradientTree(r.inputs, r.grads)]
        }),
    })
  }

  const hvp = (f: unknown, options: Omit<GradOptions, 'aux'> = {}): Callable => {
    const m = metaOf(f)
    const g = metaOf(grad(f, options))
    return make({
      name: `hvp(${m.name})`,
      arity: 2,
      body: (args, fresh) =>
        onFresh(args, fresh, ([primals, tangents]) => {
          const list = spread(m, primals)
          const p = liftTree(list, 'primals')
          const s = select(p.def, options.wrt, 'hvp')
          const chosen = { nodes: s.at.map((i) => p.nodes[i]!), def: s.def }
          const seeds = new Map<Node, Node>()
          tangentLeaves(chosen, tangents, m.name).forEach((d, i) => {
            if (d !== undefined) seeds.set(chosen.nodes[i]!, d)
          })
          // The gradient's tree has wrt's structure; its tangent is the product.
          const out = liftTree(g.body(list, true), `the gradient of ${m.name}`)
          const r = pushforward(registry, out.nodes, seeds)
          return gradientTree(
            out.def,
            r.tangents.map((t, i) => instantiate(t, out.nodes[i]!.aval)),
          )
        }),
    })
  }

  /** f's tangents at a point, as a linear function of the tangents alone: the primal part is traced once. */
  const linearize = (f: unknown) => {
    const m = metaOf(f)
    return (primals: unknown): readonly [value: unknown, derivative: Callable] => {
      const j = jvp(f)
      const value = m.arity > 1 && m.declared === undefined ? make(m)(...(primals as readonly unknown[])) : make(m)(primals)
      return [
        value,
        make({
          name: `linearize(${m.name})`,
          arity: 1,
          body: ([t], _fresh) => (metaOf(j).body([primalLeaves(primals), t], false) as readonly unknown[])[1],
        }),
      ]
    }
  }
  const primalLeaves = (tree: unknown): unknown => {
    const { nodes, def } = liftTree(tree, 'primals')
    return unflatten(def, nodes.map(asExpr))
  }

  const vmap = (f: unknown): Callable => {
    const m = metaOf(f)
    return make({
      name: `vmap(${m.name})`,
      arity: m.arity,
      body: (args, _fresh) => {
        const { nodes, def } = liftTree(args, 'arguments')
        const sizes = new Set(nodes.map((n) => n.shape[0]))
        const size = [...sizes][0]
        if (nodes.length === 0 || sizes.size !== 1 || size === undefined)
          return raise({
            _tag: 'ShapeMismatch',
            op: 'vmap',
            shapes: nodes.map((n) => n.shape),
            reason: 'the leading axes of the arguments differ or are missing.',
            fix: 'every leaf needs the batch axis in front; capture what is shared.',
          })
        const inputs = nodes.map((n) => input(unbatched(n.aval)))
        const out = liftTree(m.body(unflatten(def, inputs.map(asExpr)) as unknown[], true), `the result of ${m.name}`)
        const ys = batch(registry, out.nodes, new Map(inputs.map((x, i) => [x, nodes[i]!])), size)
        return unflatten(out.def, ys.map(asExpr))
      },
    })
  }

  /** Rows of basis vectors pushed or pulled at once; blocks [...out, ...in] for each pair of leaves. */
  const jacobian =
    (kind: 'fwd' | 'rev') =>
    (f: unknown, options: { readonly wrt?: GradOptions['wrt'] } = {}): Callable => {
      const m = metaOf(f)
      return make(
        derived(m, `jac${kind}`, (args, fresh) =>
          onFresh(args, fresh, (a, leaves, def) => {
            const s = select(def, options.wrt, `jac${kind}`)
            const wrt = activeLeaves(leaves, s, `jac${kind}`, options.wrt !== undefined)
            const out = liftTree(m.body(a, true), `the result of ${m.name}`)
            const blocks = kind === 'fwd' ? forwardBlocks(out.nodes, wrt) : reverseBlocks(out.nodes, wrt)
            return unflatten(
              out.def,
              out.nodes.map((_, i) => gradientTree(s.def, blocks[i]!)),
            )
          }),
        ),
      )
    }
  const forwardBlocks = (outs: readonly Node[], wrt: readonly Node[]): (Node | NoTangent)[][] => {
    const columns = wrt.map((w) => {
      if (!isFloat(w.dtype)) return outs.map(() => NoTangent)
      const n = w.aval.size
      const dx = input(w.aval, 'dx')
      const { tangents } = pushforward(registry, outs, new Map([[w, dx]]))
      const dys = outs.map((o, i) => (isFloat(o.dtype) ? instantiate(tangents[i]!, o.aval) : undefined))
      const basis = reshapeNode(eyeNode(n, w.dtype), [n, ...w.shape])
      const live = dys.filter((d): d is Node => d !== undefined)
      const ys = batch(registry, live, new Map([[dx, basis]]), n)
      let k = 0
      return dys.map((d, i) => {
        if (d === undefined) return NoTangent
        const y = ys[k++]!
        const o = outs[i]!
        return reshapeNode(moveFirstLast(reshapeNode(y, [n, o.aval.size])), [...o.shape, ...w.shape])
      })
    })
    return outs.map((_, i) => columns.map((c) => c[i]!))
  }
  const reverseBlocks = (outs: readonly Node[], wrt: readonly Node[]): (Node | NoTangent)[][] =>
    outs.map((o) => {
      if (!isFloat(o.dtype)) return wrt.map(() => NoTangent)
      const n = o.aval.size
      const yBar = input(o.aval, 'yBar')
      const r = denseCotangents(pullback(registry, regionized([o], wrt), [asExpr(yBar)], wrt), wrt)
      const live = r.filter((x): x is Node => x._tag !== 'NoTangent')
      const basis = reshapeNode(eyeNode(n, o.dtype), [n, ...o.shape])
      const ys = batch(registry, live, new Map([[yBar, basis]]), n)
      let k = 0
      return r.map((x, i) => (x._tag === 'NoTangent' ? NoTangent : reshapeNode(ys[k++]!, [...o.shape, ...wrt[i]!.shape])))
    })

  const jacfwd = jacobian('fwd')
  const jacrev = jacobian('rev')
  const hessian = (f: unknown, options: { readonly wrt?: GradOptions['wrt'] } = {}): Callable => {
    const g = grad(f, options)
    const h = jacfwd(g, options)
    return h
  }

  return { grad, valueAndGrad, jvp, vjp, hvp, linearize, vmap, jacfwd, jacrev, hessian }
}

import { transposeNode } from '../core/ops/layout.js'

const moveFirstLast = (x: Node): Node => transposeNode(x, [1, 0])

/** Tangents of the primals' leaves: same tree; NoTangent (or nothing) where there is no tangent space. */
const tangentLeaves = (
  p: { readonly nodes: readonly Node[]; readonly def: TreeDef },
  tangents: unknown,
  name: string,
): (Node | undefined)[] => {
  const got = flatten(tangents, 'tangents')
  const floats = p.nodes.filter((n) => isFloat(n.dtype)).length
  const full = sameDef(got.def, p.def)
  if (!full && leafCount(got.def) !== floats)
    raise({
      _tag: 'BadInput',
      where: `jvp(${name})`,
      reason: `tangents are ${showDef(got.def)}, primals ${showDef(p.def)}.`,
      fix: 'give a tangent of the same tree (NoTangent at integers).',
    })
  let k = 0
  return p.nodes.map((x, i) => {
    if (!isFloat(x.dtype)) return undefined
    const leaf = full ? got.leaves[i] : got.leaves[k++]
    const d = lift(leaf, `jvp(${name})`, x.dtype)
    if (sizeOf(d.shape) !== x.aval.size || d.shape.join() !== x.shape.join() || d.dtype !== x.dtype)
      raise({
        _tag: 'ShapeMismatch',
        op: `jvp(${name})`,
        shapes: [d.shape, x.shape],
        reason: `a tangent is ${d.dtype} [${d.shape}], its primal ${x.dtype} [${x.shape}].`,
        fix: 'tangents have the shape and dtype of their primals.',
      })
    return d
  })
}
const cotangentLeaves = (out: { readonly nodes: readonly Node[]; readonly def: TreeDef }, yBar: unknown, name: string): Tangent[] =>
  tangentLeaves(out, yBar, name).map((d) => (d === undefined ? NoTangent : asExpr(d)))
