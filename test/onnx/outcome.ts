/** What a backend test of ONNX comes to here: the values that it expects, others, or a reason why it is refused. */
import { type Backend, compile, explain, isAdException, type Tensor } from '../../src/index.js'
import { fromONNX, type OnnxModel, type OnnxParams } from '../../src/onnx/index.js'
import { type Case, dataOf, type Given, givenIn, neededInputs, openInputs } from './cases.js'

export type Outcome =
  | { readonly tag: 'passed' }
  | { readonly tag: 'wrong'; readonly reason: string }
  | { readonly tag: 'refused'; readonly reason: string }

export type Values = Tensor | null | readonly Values[]
const valuesOf = (g: Given): Values => (g === null ? null : isList(g) ? g.map(valuesOf) : (g as { readonly tensor: Tensor }).tensor)
const isList = (g: unknown): g is readonly Given[] => Array.isArray(g)
const isNear = (got: number, want: number, tolerance: number): boolean =>
  Object.is(got, want) || got === want || Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want))

/** Where values differ from those that are wanted; undefined where they do not. */
const difference = (got: unknown, want: Given, tolerance: number, at: string): string | undefined => {
  if (want === null) return got === null ? undefined : `${at} is there`
  if (isList(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return `${at} is no list of ${want.length}`
    return want.map((w, i) => difference(got[i], w, tolerance, `${at}.${i}`)).find((d) => d !== undefined)
  }
  const [g, { tensor: w, type }] = [got as Tensor, want as Exclude<Given, null | readonly Given[]>]
  if (g?._tag !== 'Tensor') return `${at} is no tensor`
  if (g.shape.join() !== w.shape.join()) return `${at} has shape [${g.shape}], not [${w.shape}]`
  if (g.dtype !== w.dtype) return `${at} is ${g.dtype}, not ${w.dtype}`
  // Numbers between operators are not rounded to 16 bits here: each that ONNX rounds may be half of its last bit away.
  const allowed = Math.max(tolerance, type.name === 'float16' ? 2 ** -10 : type.name === 'bfloat16' ? 2 ** -7 : 0)
  const i = Array.from(w.data).findIndex((x, k) => !isNear(Number(g.data[k]), Number(x), allowed))
  return i < 0 ? undefined : `${at}[${i}] is ${g.data[i]}, not ${w.data[i]}`
}

/** A case as a call, and what its result comes to. */
export interface Prepared {
  readonly model: OnnxModel
  readonly f: unknown
  readonly given: { readonly params: OnnxParams; readonly inputs: Readonly<Record<string, Values>> }
  readonly compared: (out: unknown) => Outcome
}
export const errorOf = (e: unknown): Outcome => {
  if (isAdException(e)) return { tag: 'refused', reason: e.message }
  if ((e as { readonly path?: unknown }).path !== undefined) return { tag: 'refused', reason: (e as Error).message }
  throw e
}
/** A case with `level`: which of its inputs are constants beside those that decide shapes, none, integers and truths, or all. */
export const prepared = (c: Case, tolerance: number, level: number): Prepared | Outcome => {
  const { graph } = dataOf(c)
  const needed = neededInputs(dataOf(c))
  const given = openInputs(graph).flatMap((d, i) =>
    c.inputs[i] === undefined ? [] : [[d.name, valuesOf(givenIn(c.inputs[i], d.elements))] as const],
  )
  const isConstant = (name: string, v: Values): boolean =>
    v === null || Array.isArray(v) || needed.has(name) || level === 2 || (level === 1 && ['i32', 'bool'].includes((v as Tensor).dtype))
  const constants = Object.fromEntries(given.filter(([name, v]) => isConstant(name, v)))
  const made = fromONNX(c.model, { constants })
  if (made._tag === 'Left') return { tag: 'refused', reason: explain(made.left) }
  const { f, params } = made.right
  const compared = (out: unknown): Outcome => {
    const found = out as Readonly<Record<string, unknown>>
    const wrong = graph.outputs
      .map((d, i) =>
        c.outputs[i] === undefined ? undefined : difference(found[d.name], givenIn(c.outputs[i], d.elements), tolerance, d.name),
      )
      .find((d) => d !== undefined)
    return wrong === undefined ? { tag: 'passed' } : { tag: 'wrong', reason: wrong }
  }
  return {
    model: made.right,
    f,
    given: { params, inputs: Object.fromEntries(given.filter(([name, v]) => !isConstant(name, v))) },
    compared,
  }
}
export const LEVELS = [0, 1, 2] as const

/**
 * A case on a backend. Inputs that decide shapes are constants; where that is not enough, integers and truths are too, as the numbers of
 * steps of loops; and all inputs of a graph of shape arithmetic alone.
 */
export const outcomeOf = (c: Case, backend: Backend, tolerance: number): Outcome => {
  let last: Outcome = { tag: 'refused', reason: 'it was not tried.' }
  for (const level of LEVELS) {
    try {
      const p = prepared(c, tolerance, level)
      last = 'tag' in p ? p : p.compared((compile(p.f as never, backend as never) as (given: object) => unknown)(p.given))
    } catch (e) {
      last = errorOf(e)
    }
    if (last.tag !== 'refused') return last
  }
  return last
}
/** The same on a backend that answers later. */
export const laterOutcomeOf = async (c: Case, backend: unknown, tolerance: number): Promise<Outcome> => {
  let last: Outcome = { tag: 'refused', reason: 'it was not tried.' }
  for (const level of LEVELS) {
    try {
      const p = prepared(c, tolerance, level)
      last = 'tag' in p ? p : p.compared(await (compile(p.f as never, backend as never) as (given: object) => Promise<unknown>)(p.given))
    } catch (e) {
      last = errorOf(e)
    }
    if (last.tag !== 'refused') return last
  }
  return last
}
