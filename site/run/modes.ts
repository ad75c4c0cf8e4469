/** A program line by line: each equation's value, its tangent by forward mode, its cotangent by reverse mode. */
import {
  type Algebra,
  coreRegistry,
  Dual,
  dualAlgebra,
  type EagerCoDual,
  type EagerDual,
  fromProgram,
  type InputAt,
  interpret,
  reverseAlgebra,
  show,
  type Tensor,
  tensor,
} from '../../src/index.js'
import type { ModeRow } from './messages.js'
import { printed } from './printed.js'

/** The tensors of the arguments by their paths, as a program names its inputs. */
export type Inputs = ReadonlyMap<string, { readonly data: ArrayLike<number>; readonly shape: readonly number[] }>

const MOST_EQUATIONS = 200

/** The same algebra, which keeps what each application gave. */
const kept = <A>(algebra: Algebra<A>, into: (readonly A[])[]): Algebra<A> => ({
  ...algebra,
  apply: (at, args) => {
    const results = algebra.apply(at, args)
    into.push(results)
    return results
  },
})
/** A tensor of the dtype that an input declares. */
const given = (inputs: Inputs, { path, shape, dtype }: InputAt, of = (x: number) => x): Tensor => {
  const known = inputs.get(path)
  if (known === undefined) throw new Error(`The input ${path === '' ? 'x0' : path} is not among the arguments.`)
  const numbers = Array.from(known.data, of)
  const data =
    dtype === 'f64'
      ? Float64Array.from(numbers)
      : dtype === 'f32'
        ? Float32Array.from(numbers)
        : dtype === 'i32'
          ? Int32Array.from(numbers)
          : Uint8Array.from(numbers)
  return tensor(data as Float64Array, shape) as Tensor
}
const listOf = <A>(results: unknown, isOne: (x: unknown) => boolean): readonly A[] =>
  isOne(results) ? [results as A] : Object.values(results as object).flatMap((x) => listOf<A>(x, isOne))

export const modeRows = (program: unknown, inputs: Inputs): readonly ModeRow[] => {
  const equations = show(program as never)
    .split('\n')
    .filter((line) => /^ {2}y\d/.test(line))
    .map((line) => line.trim())
  if (equations.length > MOST_EQUATIONS) throw new Error(`${equations.length} equations are too many to go through line by line.`)
  const f = fromProgram(program as never) as never
  const duals: (readonly EagerDual[])[] = []
  const isFloat = ({ dtype }: InputAt): boolean => dtype === 'f64' || dtype === 'f32'
  const forward = dualAlgebra(
    coreRegistry,
    (at) => Dual(given(inputs, at), isFloat(at) ? given(inputs, at, () => 1) : { _tag: 'NoTangent' }) as EagerDual,
  )
  interpret(kept(forward, duals))(f)
  const coduals: (readonly EagerCoDual[])[] = []
  const reverse = reverseAlgebra(coreRegistry, (at) => given(inputs, at))
  const results = interpret(kept(reverse.algebra, coduals))(f) as unknown
  for (const result of listOf<EagerCoDual>(results, (x) => typeof x === 'object' && x !== null && 'primal' in x)) {
    const { primal } = result
    if (primal.dtype === 'f64' || primal.dtype === 'f32')
      result.add(tensor(primal.data.map(() => 1) as Float64Array, primal.shape) as Tensor)
  }
  reverse.back()
  return equations.map((equation, i): ModeRow => {
    const { primal, tangent } = duals[i]![0]!
    const total = coduals[i]![0]!.total()
    return {
      equation,
      primal: printed(primal),
      ...(tangent._tag === 'Tensor' && { tangent: printed(tangent) }),
      ...(total !== undefined && { cotangent: printed(total) }),
    }
  })
}
