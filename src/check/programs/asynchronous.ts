/** Values and derivatives of a program on backends that answer later, against the reference. */

import { isAdException } from '../../core/errors/error.js'
import type { AsyncBackend, Elements } from '../../core/functions/backend.js'
import { aval, isFloat } from '../../core/graph/aval.js'
import { asNode, capturedTensor, input, linearize, type Node } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { flatProgram } from '../../core/graph/program.js'
import { substitute } from '../../core/graph/rewrite.js'
import { roundingOf } from '../derivative.js'
import { random } from '../draw.js'
import { Collector } from '../findings.js'
import { bind, derivativesOf, derive, drawLike, evaluate } from '../subject.js'
import { type Outcome, subjectOf } from './laws.js'
import type { Setting } from './options.js'
import { built, type RandomProgram } from './program.js'

const hostData = async (x: Elements): Promise<ArrayLike<number>> => ('read' in x ? x.read() : x)

/** The outcome with what these backends give. */
export const findingsOn = async (
  backends: readonly AsyncBackend[],
  p: RandomProgram,
  before: Outcome,
  setting: Setting,
  seed: number,
): Promise<Outcome> => {
  const b = built(p)
  const own = subjectOf(b, setting, random(seed + 1))
  const s = before.derived && b.ys.some((y) => isFloat(y.dtype)) ? own : { ...own, active: [] }
  const d = derive(s)
  const wanted = [...d.ys, ...derivativesOf(d)].map(asNode)
  // An asynchronous backend takes no captured tensors: they are inputs.
  const captured = linearize(wanted).nodes.filter((n) => capturedTensor(n) !== undefined)
  const stand = new Map<Node, Node>(captured.map((n) => [n, input(aval(n.shape, n.dtype))]))
  const outputs = substitute(wanted, stand)
  const symbols = [...d.tangents, ...d.seeds]
  const env = new Map<Node, NDArray>([...d.env, ...bind(symbols, drawLike(symbols, random(seed + 13)))])
  for (const [n, to] of stand) env.set(to, capturedTensor(n)!)
  const inputs = [...d.inputs, ...symbols, ...stand.values()]
  const program = flatProgram('program', inputs, outputs)
  const out = new Collector('program', seed, setting.checks)
  const without = [...before.without]
  const want = evaluate(outputs, env)
  const rounding = roundingOf(outputs, env, 'own')
  const tolerance = linearize(outputs).nodes.some((n) => n.dtype === 'f32') ? 1e-5 : 1e-9
  for (const backend of out.on('backend') ? backends : []) {
    try {
      const executable = await backend.prepare(program)
      try {
        const got = await executable.run(inputs.map((n) => env.get(n)!.data))
        for (const [i, v] of got.entries()) {
          const place = { shape: outputs[i]!.shape, how: backend.name }
          out.near('backend', `result ${i}`, await hostData(v), want[i]!.data, tolerance, rounding(i), place)
        }
      } finally {
        executable.dispose()
      }
    } catch (e) {
      const missing = isAdException(e) && (e.error._tag === 'MissingKernel' || e.error._tag === 'Unsupported') ? e.error : undefined
      if (missing === undefined)
        out.note('value', `${backend.name} raises`, 0, 'results', e instanceof Error ? e.message.split('\n')[0] : e)
      else without.push([backend.name, missing._tag === 'MissingKernel' ? missing.primitive : missing.what])
    }
  }
  return { ...before, findings: out.mistakes(), without, comparisons: before.comparisons + out.comparisons }
}
