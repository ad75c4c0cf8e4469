/** The operators users call: grad, valueAndGrad, jvp, vjp, linearize, jacfwd, jacrev, hessian, hvp, vmap. They take and give functions. */
import { isFloat } from '../core/aval.js'
import { callable, type Meta, metaOf, onFresh, type Runtime, readArgs, toNode } from '../core/callable.js'
import { raise } from '../core/explain.js'
import { asExpr, asNode, input, type Node, substitute } from '../core/expr.js'
import { lift } from '../core/lift.js'
import { concatNode } from '../core/ops/layout-join.js'
import { broadcastNode, reshapeNode, transposeNode } from '../core/ops/layout-move.js'
import { sum } from '../core/ops/reductions.js'
import { liftList, liftTree } from '../core/program.js'
import type { Registry } from '../core/registry.js'
import { blaming, raiseAt } from '../core/sites.js'
import { NoTangent, type Tangent } from '../core/tangent.js'
import { zeroTensor } from '../core/tensor.js'
import { type TreeDef, unflatten } from '../core/tree.js'
import type { DType } from '../core/types/dtype.js'
import {
  activeLeaves,
  batchedDeclaration,
  chosen,
  cotangentLeaves,
  type GradOptions,
  gradOptions,
  type JacOptions,
  jacOptions,
  type Mode,
  mappedLeaves,
  needsArguments,
  onlyItem,
  primalsDef,
  select,
  spread,
  tangentLeaves,
  tangentMeta,
  type VmapOptions,
  vmapOptions,
  type WrtOptions,
  wrtOptions,
} from './arguments.js'
import { direction, instantiate, ones } from './common.js'
import { regionized } from './mixed.js'
import { denseCotangents } from './reverse.js'
import { pullback, pushforward } from './transform.js'
import { batch, unbatched } from './vmap.js'

type Callable = (...args: readonly unknown[]) => unknown

/** Rows of the identity matrix of size n: the basis that jacobians push or pull. */
const eyeNode = (n: number, dtype: DType, from = 0, to = n): Node => {
  const t = zeroTensor([to - from, n], dtype)
  for (let i = from; i < to; i++) t.data[(i - from) * n + i] = 1
  return t.node
}

/** A tree of gradients: NoTangent at leaves without a tangent space. */
const gradientTree = (def: TreeDef, leaves: readonly (Node | NoTangent)[]): unknown =>
  unflatten(
    def,
    leaves.map((l) => (l._tag === 'NoTangent' ? NoTangent : asExpr(l))),
  )

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
      const dx = direction(w.aval, 'dx')
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

const dotAll = (a: Node, b: Node): Node => asNode(a.shape.length === 0 ? mul(asExpr(a), asExpr(b)) : sum(mul(asExpr(a), asExpr(b))))
const addNodes = (a: Node, b: Node): Node => asNode(add(asExpr(a), asExpr(b)))

const derived = (f: Meta, name: string, body: Meta['body']): Meta => ({
  name: `${name}(${f.name})`,
  arity: f.arity,
  body,
  ...(f.declared && { declared: f.declared }),
  ...(f.read && { read: f.read }),
  ...(f.most && { most: f.most }),
})

const valueGrad =
  (registry: Registry, f: Meta, options: GradOptions, op: string) => (args: readonly unknown[], leaves: readonly Node[], def: TreeDef) => {
    needsArguments(args.length, `${op}(${f.name})`)
    const out = f.body(args, true)
    const [lossTree, aux] = options.aux === true ? (out as readonly [unknown, unknown]) : [out, undefined]
    const { nodes, def: outDef } = liftTree(lossTree, `the result of ${f.name}`)
    const loss = nodes[0]
    if (outDef._tag !== 'Leaf' || loss === undefined || loss.shape.length !== 0 || !isFloat(loss.dtype))
      return raiseAt(loss, { _tag: 'NotScalar', op, shape: loss?.shape ?? [], dtype: loss?.dtype ?? 'f64' })
    const s = select(f, def, options.wrt, op)
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

  const gradMeta = (m: Meta, options: GradOptions): Meta =>
    derived(m, 'grad', (args, fresh) =>
      onFresh(args, fresh, (a, l, d) => {
        const r = valueGrad(registry, m, options, 'grad')(a, l, d)
        return options.aux === true ? [r.grad, r.aux] : r.grad
      }),
    )
  const grad = (f: unknown, given?: GradOptions): Callable => make(gradMeta(metaOf(f, 'grad'), gradOptions(given, 'grad')))

  const valueAndGrad = (f: unknown, given?: GradOptions): Callable => {
    const m = metaOf(f, 'valueAndGrad')
    const options = gradOptions(given, 'valueAndGrad')
    return make(
      derived(m, 'valueAndGrad', (args, fresh) =>
        onFresh(args, fresh, (a, l, d) => {
          const r = valueGrad(registry, m, options, 'valueAndGrad')(a, l, d)
          return options.aux === true ? { value: r.value, aux: r.aux, grad: r.grad } : { value: r.value, grad: r.grad }
        }),
      ),
    )
  }

  /** The primals that vary: those that `wrt` names, or all of them. */
  const varied = (m: Meta, primals: unknown, wrt: GradOptions['wrt'], op: string): { nodes: readonly Node[]; def: TreeDef } => {
    const { nodes, def } = liftList(spread(m, primals), 'primals')
    const s = chosen(m, def, wrt, op)
    return { nodes: wrt === undefined ? nodes : activeLeaves(nodes, s, op, true), def: s.def }
  }
  /** Primals as m's own arguments; then tangents of those that vary (all of them, or the first for hvp), or a cotangent of anything. */
  const reading =
    (m: Meta, op: string, wrt: GradOptions['wrt'], second: 'tangents' | 'cotangent'): NonNullable<Meta['read']> =>
    (args) => {
      const name = `${op}(${m.name})`
      if (args.length !== 2) return raise({ _tag: 'BadInput', where: name, reason: `takes 2 arguments, got ${args.length}.` })
      const p = readArgs(m, spread(m, args[0]))
      const s = op === 'hvp' ? select(m, p.def, wrt, op) : chosen(m, p.def, wrt, op)
      const t = readArgs(
        second === 'cotangent'
          ? { name, arity: 1, noun: 'the cotangent', body: () => undefined }
          : tangentMeta(
              name,
              s.def,
              s.at.map((i) => p.leaves[i]!),
            ),
        [args[1]],
      )
      return { leaves: [...p.leaves, ...t.leaves], def: { _tag: 'Tuple', items: [primalsDef(m, p.def), onlyItem(t.def)] } }
    }

  /** Values and tangents of f's outputs along tangents of its float leaves (NoTangent or absent elsewhere). */
  const push = (
    m: Meta,
    primals: unknown,
    tangents: unknown,
    op: 'jvp' | 'linearize',
    wrt?: GradOptions['wrt'],
  ): { def: TreeDef; values: readonly Node[]; dys: readonly (Node | NoTangent)[] } => {
    const p = varied(m, primals, wrt, op)
    const out = liftTree(m.body(spread(m, primals), true), `the result of ${m.name}`)
    const seeds = new Map<Node, Node>()
    const dx = tangentLeaves(p, tangents, `${op}(${m.name})`)
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

  const jvp = (f: unknown): Callable => make(pushed(metaOf(f, 'jvp'), 'jvp'))
  const pushed = (m: Meta, op: 'jvp' | 'linearize', wrt?: GradOptions['wrt']): Meta => ({
    name: `jvp(${m.name})`,
    arity: 2,
    read: reading(m, 'jvp', wrt, 'tangents'),
    body: (args, fresh) =>
      onFresh(args, fresh, ([primals, tangents]) => {
        const r = push(m, primals, tangents, op, wrt)
        return [unflatten(r.def, r.values.map(asExpr)), gradientTree(r.def, r.dys)]
      }),
  })

  const pull = (
    m: Meta,
    primals: unknown,
    seedsOf: (out: { nodes: Node[]; def: TreeDef }) => readonly Tangent[],
    wrt: GradOptions['wrt'],
  ) => {
    const p = varied(m, primals, wrt, 'vjp')
    const out = liftTree(m.body(spread(m, primals), true), `the result of ${m.name}`)
    const r = cotangents(registry, 'mixed', out.nodes, seedsOf(out), p.nodes)
    return { def: out.def, values: r.values, inputs: p.def, grads: r.grads }
  }

  const vjp = (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'vjp')
    const options = wrtOptions(given, 'vjp')
    return make({
      name: `vjp(${m.name})`,
      arity: 2,
      read: reading(m, 'vjp', options.wrt, 'cotangent'),
      body: (args, fresh) =>
        onFresh(args, fresh, ([primals, yBar]) => {
          const r = pull(m, primals, (out) => cotangentLeaves(out, yBar, `vjp(${m.name})`), options.wrt)
          return [unflatten(r.def, r.values.map(asExpr)), gradientTree(r.inputs, r.grads)]
        }),
    })
  }

  const hvp = (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'hvp')
    const options = wrtOptions(given, 'hvp')
    const g = gradMeta(m, options)
    return make({
      name: `hvp(${m.name})`,
      arity: 2,
      read: reading(m, 'hvp', options.wrt, 'tangents'),
      body: (args, fresh) =>
        onFresh(args, fresh, ([primals, tangents]) => {
          const list = spread(m, primals)
          const p = liftList(list, 'primals')
          const s = select(m, p.def, options.wrt, 'hvp')
          const x = { nodes: s.at.map((i) => p.nodes[i]!), def: s.def }
          const seeds = new Map<Node, Node>()
          tangentLeaves(x, tangents, `hvp(${m.name})`).forEach((d, i) => {
            if (d !== undefined) seeds.set(x.nodes[i]!, d)
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
  const linearize = (f: unknown, given?: WrtOptions) => {
    const m = metaOf(f, 'linearize')
    const options = wrtOptions(given, 'linearize')
    const j = pushed(m, 'linearize', options.wrt)
    return (primals: unknown): readonly [value: unknown, derivative: Callable] => {
      const list = spread(m, primals)
      const { leaves, def } = readArgs(m, list)
      const at = unflatten(
        primalsDef(m, def),
        leaves.map((l) => asExpr(toNode(l))),
      )
      const s = chosen(m, def, options.wrt, 'linearize')
      return [
        make(m)(...list),
        make({
          ...tangentMeta(
            `linearize(${m.name})`,
            s.def,
            s.at.map((i) => leaves[i]!),
          ),
          body: ([t], _fresh) => (j.body([at, t], false) as readonly unknown[])[1],
        }),
      ]
    }
  }

  const vmap = (f: unknown, given?: VmapOptions): Callable => {
    const m = metaOf(f, 'vmap')
    const options = vmapOptions(given)
    return make({
      name: `vmap(${m.name})`,
      arity: m.arity,
      ...(m.most && { most: m.most }),
      ...(m.declared && { declared: batchedDeclaration(m.declared, options.inAxes) }),
      body: (args, _fresh) => {
        const { nodes, def } = liftList(args, 'arguments')
        const mapped = mappedLeaves(def, options.inAxes)
        const over = nodes.filter((_, i) => mapped[i])
        const sizes = new Set(over.map((n) => n.shape[0]))
        const size = [...sizes][0]
        if (over.length === 0 || sizes.size !== 1 || size === undefined)
          return raise({
            _tag: 'ShapeMismatch',
            op: 'vmap',
            shapes: over.map((n) => n.shape),
            reason: 'the leading axes of the arguments differ or are missing.',
            fix: 'every leaf needs the batch axis in front; capture what is shared, or give its argument inAxes null.',
          })
        const inputs = nodes.map((n, i) => input(mapped[i] ? unbatched(n.aval) : n.aval))
        const given = (which: boolean) => new Map(inputs.flatMap((x, i) => (mapped[i] === which ? [[x, nodes[i]!] as const] : [])))
        const out = liftTree(m.body(unflatten(def, inputs.map(asExpr)) as unknown[], true), `the result of ${m.name}`)
        const ys = substitute(batch(registry, out.nodes, given(true), size), given(false))
        return unflatten(out.def, ys.map(asExpr))
      },
    })
  }

  /** Rows of basis vectors pushed or pulled at once; blocks [...out, ...in] for each pair of leaves. */
  const jacobian = (kind: 'fwd' | 'rev', m: Meta, { wrt: path, chunk }: JacOptions, op = `jac${kind}`): Callable =>
    make(
      derived(m, op, (args, fresh) =>
        onFresh(args, fresh, (a, leaves, def) => {
          const s = select(m, def, path, op)
          const wrt = activeLeaves(leaves, s, op, path !== undefined)
          const out = liftTree(m.body(a, true), `the result of ${m.name}`)
          const blocks = kind === 'fwd' ? forwardBlocks(out.nodes, wrt, chunk) : reverseBlocks(out.nodes, wrt, chunk)
          return unflatten(
            out.def,
            out.nodes.map((_, i) => gradientTree(s.def, blocks[i]!)),
          )
        }),
      ),
    )
  /** `outs` at every row of the identity of x's size, `chunk` rows at once: [size, ...out]. */
  const overBasis = (outs: readonly Node[], x: Node, chunk: number = x.aval.size): Node[] => {
    const n = x.aval.size
    const rows = (from: number, to: number): Node[] =>
      batch(registry, outs, new Map([[x, reshapeNode(eyeNode(n, x.dtype, from, to), [to - from, ...x.shape])]]), to - from)
    if (chunk >= n) return rows(0, n)
    const parts = Array.from({ length: Math.ceil(n / chunk) }, (_, i) => rows(i * chunk, Math.min(n, (i + 1) * chunk)))
    return outs.map((_, k) =>
      concatNode(
        parts.map((p) => p[k]!),
        0,
      ),
    )
  }
  const forwardBlocks = (outs: readonly Node[], wrt: readonly Node[], chunk?: number): (Node | NoTangent)[][] => {
    const columns = wrt.map((w) => {
      if (!isFloat(w.dtype)) return outs.map(() => NoTangent)
      const n = w.aval.size
      const dx = direction(w.aval, 'dx')
      const { tangents } = pushforward(registry, outs, new Map([[w, dx]]))
      const dys = outs.map((o, i) => (isFloat(o.dtype) ? instantiate(tangents[i]!, o.aval) : undefined))
      const live = dys.filter((d): d is Node => d !== undefined)
      const ys = overBasis(live, dx, chunk)
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
  const reverseBlocks = (outs: readonly Node[], wrt: readonly Node[], chunk?: number): (Node | NoTangent)[][] =>
    outs.map((o) => {
      if (!isFloat(o.dtype)) return wrt.map(() => NoTangent)
      const yBar = direction(o.aval, 'yBar')
      const r = denseCotangents(pullback(registry, regionized([o], wrt), [asExpr(yBar)], wrt), wrt)
      const live = r.filter((x): x is Node => x._tag !== 'NoTangent')
      const ys = overBasis(live, yBar, chunk)
      let k = 0
      return r.map((x, i) => (x._tag === 'NoTangent' ? NoTangent : reshapeNode(ys[k++]!, [...o.shape, ...wrt[i]!.shape])))
    })

  const jacfwd = (f: unknown, given?: JacOptions): Callable => jacobian('fwd', metaOf(f, 'jacfwd'), jacOptions(given, 'jacfwd'))
  const jacrev = (f: unknown, given?: JacOptions): Callable => jacobian('rev', metaOf(f, 'jacrev'), jacOptions(given, 'jacrev'))
  const hessian = (f: unknown, given?: JacOptions): Callable => {
    const options = jacOptions(given, 'hessian')
    return jacobian('fwd', gradMeta(metaOf(f, 'hessian'), { wrt: options.wrt }), options, 'hessian')
  }

  return { grad, valueAndGrad, jvp, vjp, hvp, linearize, vmap, jacfwd, jacrev, hessian }
}

const moveFirstLast = (x: Node): Node => transposeNode(x, [1, 0])
