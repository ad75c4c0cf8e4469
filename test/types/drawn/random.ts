/**
 * Calls of what `codual/random` has, written out once and read twice: run, to see the shape and the dtype of the result, and compiled in helpers that know
 * more or less of the sizes.
 */
import { aval } from '../../../src/core/graph/aval.js'
import { input } from '../../../src/core/graph/expr.js'
import * as cd from '../../../src/index.js'
import * as random from '../../../src/random/index.js'

/** A call with a key k. */
export interface Row {
  readonly name: string
  /** Shapes of the operands, f64 unless another dtype stands in front. */
  readonly operands?: readonly (readonly number[])[]
  readonly dtypes?: readonly cd.DType[]
  /** The call of the operands' names; n gives a size as it is told. */
  readonly call: (xs: readonly string[], n: (size: number) => string) => string
  /** Are sizes told where a name that the result is declared to have does not reach them: in options, or behind another function? */
  readonly unnamed?: true
}
const shaped = ['normal', 'uniform', 'exponential', 'gumbel', 'laplace', 'logistic', 'cauchy', 'maxwell', 'rademacher', 'bits']
const initialisers = ['glorotUniform', 'glorotNormal', 'heUniform', 'heNormal', 'lecunUniform', 'lecunNormal']
const ofOne = ['gamma', 'studentT', 'lognormal', 'rayleigh', 'pareto', 'poisson', 'geometric', 'bernoulli']
const ofTwo = ['beta', 'weibull', 'truncatedNormal']
/** A matrix of 5 by 3, where 3 is another size than that of anything else. */
const X = [5, 3]
export const ROWS: readonly Row[] = [
  ...shaped.flatMap((name): readonly Row[] => [
    { name, call: (_, n) => `${name}(k, [${n(5)}, ${n(7)}])` },
    { name, call: (_, n) => `${name}(k, [${n(5)}, 2])` },
    { name, call: () => `${name}(k)` },
    { name, operands: [X], call: ([x]) => `${name}(k, ${x}.shape)` },
    { name, operands: [X], call: ([x]) => `${name}(k, [${x}.shape[0], 4])` },
  ]),
  ...shaped.slice(0, 8).map((name): Row => ({ name, call: (_, n) => `${name}(k, [${n(5)}], { dtype: 'f32' })` })),
  { name: 'uniform', operands: [X], call: ([x]) => `uniform(k, ${x}.shape, { min: ${x}, max: 3 })` },
  ...initialisers.map((name): Row => ({ name, call: (_, n) => `${name}(k, [${n(5)}, ${n(7)}])` })),
  ...ofOne.flatMap((name): readonly Row[] => [
    { name, operands: [X], call: ([x]) => `${name}(k, ${x})` },
    { name, operands: [X], dtypes: ['f32'], call: ([x]) => `${name}(k, ${x})` },
    { name, call: (_, n) => `${name}(k, 0.5, { shape: [${n(5)}, 2] })`, unnamed: true },
    { name, operands: [[5]], call: ([x], n) => `${name}(k, ${x}, { shape: [${n(7)}, ${n(5)}] })`, unnamed: true },
  ]),
  ...ofTwo.flatMap((name): readonly Row[] => [
    { name, operands: [X], call: ([x]) => `${name}(k, ${x}, 2)` },
    { name, operands: [X], call: ([x]) => `${name}(k, 1, ${x})` },
    { name, operands: [X, X], call: ([x, y]) => `${name}(k, ${x}, ${y})` },
    { name, operands: [[5, 1], [3]], call: ([x, y]) => `${name}(k, ${x}, ${y})` }, // biome-ignore format: one row
    { name, operands: [[5], []], dtypes: ['f32', 'f64'], call: ([x, y]) => `${name}(k, ${x}, ${y})` }, // biome-ignore format: one row
    { name, call: (_, n) => `${name}(k, 1, 2, { shape: [${n(5)}] })`, unnamed: true },
  ]),
  { name: 'triangular', operands: [X], call: ([x]) => `triangular(k, -1, 0, ${x})` },
  { name: 'triangular', operands: [X, [3]], call: ([x, y]) => `triangular(k, ${y}, ${x}, 2)` }, // biome-ignore format: one row
  { name: 'dirichlet', operands: [[5]], call: ([x]) => `dirichlet(k, ${x})` },
  { name: 'dirichlet', operands: [[5]], call: ([x], n) => `dirichlet(k, ${x}, { shape: [${n(7)}] })`, unnamed: true },
  { name: 'randint', call: (_, n) => `randint(k, [${n(5)}, ${n(7)}], 0, 9)` },
  { name: 'randint', operands: [[5]], dtypes: ['i32'], call: ([x], n) => `randint(k, [${n(5)}], 0, ${x})` },
  { name: 'permutation', call: (_, n) => `permutation(k, ${n(5)})` },
  { name: 'permutation', operands: [X], call: ([x]) => `permutation(k, ${x})` },
  { name: 'permutation', operands: [X], dtypes: ['i32'], call: ([x]) => `permutation(k, ${x}, { axis: 1, independent: true })` },
  { name: 'permutation', operands: [X], call: ([x]) => `permutation(k, ${x}.shape[0])` },
  { name: 'choice', call: (_, n) => `choice(k, 9, { shape: [${n(5)}] })`, unnamed: true },
  { name: 'choice', operands: [X], call: ([x]) => `choice(k, ${x})` },
  { name: 'choice', operands: [X], call: ([x], n) => `choice(k, ${x}, { shape: [${n(7)}, 2] })`, unnamed: true },
  { name: 'choice', operands: [[5]], call: ([x]) => `choice(k, ${x}.shape[0], { p: ${x} })` },
  { name: 'categorical', operands: [X], call: ([x]) => `categorical(k, ${x})` },
  { name: 'categorical', operands: [[7, 5, 3]], dtypes: ['f32'], call: ([x]) => `categorical(k, ${x})` },
  { name: 'categorical', operands: [X], call: ([x]) => `categorical(k, ${x}, { axis: 0 })` },
  { name: 'categorical', operands: [X], call: ([x], n) => `categorical(k, ${x}, { shape: [${n(7)}, ${n(5)}] })`, unnamed: true },
  { name: 'multivariateNormal', operands: [[5], [5, 5]], call: ([m, c]) => `multivariateNormal(k, ${m}, { covariance: ${c} })` }, // biome-ignore format: one row
  { name: 'multivariateNormal', operands: [[7, 5], [5, 5]], call: ([m, l]) => `multivariateNormal(k, ${m}, { factor: ${l} })` }, // biome-ignore format: one row
  { name: 'multivariateNormal', operands: [[5], [5, 5]], dtypes: ['f32', 'f32'], unnamed: true, call: ([m, l], n) => `multivariateNormal(k, ${m}, { factor: ${l}, shape: [${n(7)}] })` }, // biome-ignore format: one row
  { name: 'orthogonal', call: (_, n) => `orthogonal(k, ${n(5)})` },
  { name: 'orthogonal', call: (_, n) => `orthogonal(k, ${n(5)}, { shape: [${n(7)}], dtype: 'f32' })`, unnamed: true },
  { name: 'ball', call: (_, n) => `ball(k, ${n(5)}, [${n(7)}])`, unnamed: true },
  { name: 'dropout', operands: [X], call: ([x]) => `dropout(${x}, 0.5, k)` },
  { name: 'splitKey', call: (_, n) => `splitKey(k, ${n(5)})` },
  { name: 'splitKey', call: () => 'splitKey(k)' },
  { name: 'splitKey', operands: [X], call: ([x]) => `splitKey(k, ${x}.shape[0])` },
  { name: 'foldIn', operands: [[]], dtypes: ['i32'], call: ([x]) => `foldIn(k, ${x})` },
  // what is made stands where an argument is asked for, of an axis that is mapped
  { name: 'splitKey', call: (_, n) => `cd.vmap((one) => random.normal(one, [3]))(random.splitKey(k, ${n(5)}))`, unnamed: true },
]

/** How sizes are known: 5 and 7 are open, the others are literals. */
export type Known = 'literal' | 'number' | 'name' | 'parameter'
export const KNOWN: readonly Known[] = ['literal', 'number', 'name', 'parameter']
const OPEN = [5, 7]
const sizeType = (n: number, known: Known): string =>
  !OPEN.includes(n) ? String(n) : { literal: String(n), number: 'number', name: `'n${n}'`, parameter: `N${n}` }[known]
const exprType = (shape: readonly number[], dtype: string, known: Known): string =>
  `cd.Expr<[${shape.map((n) => sizeType(n, known)).join(', ')}], '${dtype}'>`
const textOf = (row: Row, xs: readonly string[], n: (size: number) => string): string => {
  const call = row.call(xs, n)
  return call.startsWith('cd.') ? call : `random.${call}`
}
const namesOf = (row: Row): readonly string[] => (row.operands ?? []).map((_, i) => `x${i}`)
/** The shape and the dtype of the result, as it runs. */
export const ranTo = (row: Row): { readonly shape: readonly number[]; readonly dtype: cd.DType } => {
  const xs = namesOf(row)
  const values = (row.operands ?? []).map((shape, i) => input(aval(shape, row.dtypes?.[i] ?? 'f64')))
  const run = new Function('cd', 'random', 'k', ...xs, `return ${textOf(row, xs, String)}`)
  const { shape, dtype } = run(cd, random, random.key(0), ...values)
  return { shape, dtype }
}

export const RANDOM_HEAD = [
  "import * as cd from '../../../../src/index.js'",
  "import * as random from '../../../../src/random/index.js'",
  'declare const given: <T>() => T',
  'declare const k: random.Key',
  '',
].join('\n')
/** The call as a helper whose result has the declared type, and at 5 and 7 that of what ran. */
export const randomWritten = (row: Row, known: Known, at: number): string => {
  const { shape, dtype } = ranTo(row)
  const xs = namesOf(row)
  const told = new Set<number>()
  const body = textOf(row, xs, (n) => {
    if (!OPEN.includes(n) || known === 'literal') return String(n)
    told.add(n)
    return `n${n}`
  })
  const params = [
    ...xs.map((x, i) => `${x}: ${exprType(row.operands![i]!, row.dtypes?.[i] ?? 'f64', known)}`),
    ...[...told].map((n) => `n${n}: ${known === 'parameter' ? `N${n}` : 'number'}`),
  ]
  const generics =
    known === 'parameter' ? OPEN.filter((n) => params.some((p) => p.includes(`N${n}`))).map((n) => `N${n} extends number`) : []
  const declared = row.unnamed === true && (known === 'name' || known === 'number') ? '' : `: ${exprType(shape, dtype, known)}`
  const values = [
    ...xs.map((_, i) => `given<${exprType(row.operands![i]!, row.dtypes?.[i] ?? 'f64', 'literal')}>()`),
    ...[...told].map(String),
  ]
  return [
    `export const f${at} = ${generics.length === 0 ? '' : `<${generics.join(', ')}>`}(${params.join(', ')})${declared} => ${body}`,
    ...(known === 'name'
      ? []
      : [
          `const r${at} = f${at}(${values.join(', ')})`,
          `export const s${at}: typeof r${at} = given<${exprType(shape, dtype, 'literal')}>()`,
        ]),
  ].join('\n')
}
