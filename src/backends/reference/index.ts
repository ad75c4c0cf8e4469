/** The reference: a walker over meanings. Slow, simple, and the oracle of every backend. */
import { aval, itemBytes } from '../../core/aval.js'
import type { SyncBackend } from '../../core/backend.js'
import { raise } from '../../core/explain.js'
import { CONST, INPUT, linearize, type Node, OUTPUT, resultAvals } from '../../core/expr.js'
import { allocate, emptyArray, type NDArray } from '../../core/ndarray.js'
import { capturedTensor } from '../../core/program.js'

/** Values of nodes, given those of the inputs; captured tensors are read as they are now. */
export const evaluateNodes = (outputs: readonly Node[], values: ReadonlyMap<Node, NDArray> = new Map()): NDArray[] => {
  const { nodes, index } = linearize(outputs)
  const done: (readonly NDArray[])[] = new Array<readonly NDArray[]>(nodes.length)
  const lastUse = new Int32Array(nodes.length).fill(-1)
  nodes.forEach((n, i) => {
    for (const a of n.args) lastUse[index.get(a)] = i
  })
  for (const o of outputs) lastUse[index.get(o)] = nodes.length
  nodes.forEach((n, i) => {
    if (n.kind === INPUT) {
      const v = values.get(n) ?? capturedTensor(n)
      done[i] = [
        v ??
          raise({
            _tag: 'BadInput',
            where: 'evaluate',
            reason: 'the expression depends on an input that has no value.',
            fix: 'make a function of it and call that.',
          }),
      ]
    } else if (n.kind === CONST) {
      const data = allocate(n.dtype, 1)
      data[0] = n.data as number
      done[i] = [{ shape: [], dtype: n.dtype, data }]
    } else if (n.kind === OUTPUT) {
      done[i] = [done[index.get(n.args[0]!)]![n.data as number]!]
    } else {
      const outs = resultAvals(n).map((a) => emptyArray(aval(a.shape, a.dtype)))
      n.prim!.meaning(
        n.args.map((a) => done[index.get(a)]![0]!),
        n.data,
        outs,
      )
      done[i] = outs
    }
    for (const a of n.args) {
      const k = index.get(a)
      if (lastUse[k] === i && a.kind !== INPUT) done[k] = a.kind === OUTPUT || !a.prim?.multi ? [] : done[k]!
    }
  })
  return outputs.map((o) => done[index.get(o)]![0]!)
}

/** The reference as a backend: no plan, one "kernel" per node. */
export const reference = (): SyncBackend => ({
  kind: 'sync',
  name: 'reference',
  prepare: (program) => ({
    run: (inputs, into, accumulate = false) => {
      const values = new Map<Node, NDArray>(program.inputs.map((n, i) => [n, { shape: n.shape, dtype: n.dtype, data: inputs[i]! }]))
      const results = evaluateNodes(program.outputs, values)
      return results.map((r, i) => {
        const target = into?.[i]
        if (target === undefined) return r.data.slice()
        if (accumulate) for (let j = 0; j < target.length; j++) target[j]! += r.data[j]!
        else target.set(r.data as never)
        return target
      })
    },
    explain: () => {
      const { nodes } = linearize(program.outputs)
      const applies = nodes.filter((n) => n.prim !== null)
      const counts: Record<string, number> = {}
      for (const n of applies) counts[n.prim!.name] = (counts[n.prim!.name] ?? 0) + 1
      const bytes = nodes.reduce((b, n) => b + n.aval.size * itemBytes[n.dtype], 0)
      return {
        backend: 'reference',
        steps: applies.map((n) => ({ kernel: n.prim!.name, reads: [], writes: [] })),
        counts,
        kernels: applies.length,
        flops: applies.reduce((f, n) => f + n.aval.size * n.prim!.cost, 0),
        bytes,
        peakBytes: bytes,
        buffers: nodes.length,
        peakBuffers: nodes.length,
        copiedAccumulators: 0,
        planMs: 0,
        cached: false,
      }
    },
    dispose: () => undefined,
  }),
})
