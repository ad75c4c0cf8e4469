// The program that calls every operation where something is a type parameter: sizes, shapes, operands, dtypes.
import { ALIKE, CALLS } from './calls.js'

/** The arrays of a setting: their names, their shapes, and their dtypes. */
const ARRAYS: readonly (readonly [name: string, shape: string, dtype?: string])[] = [
  ['v', '[N]'],
  ['v2', '[N]'],
  ['u', '[M]'],
  ['m', '[N, M]'],
  ['g', '[M, N]'],
  ['g2', '[number, M]'],
  ['q', '[N, N]'],
  ['q2', '[N, N]'],
  ['t', '[N, 3]'],
  ['r', '[number]'],
  ['rc', '[N, number]'],
  ['s', '[]'],
  ['img', '[B, C, H, W]'],
  ['ker', '[M, C, 3, 3]'],
  ['kerT', '[C, M, 3, 3]'],
  ['seq', '[B, N, C]'],
  ['i', '[N]', "'i32'"],
  ['mask', '[N]', "'bool'"],
]
export interface Setting {
  readonly name: string
  readonly parameters: string
  /** The type of an array. */
  readonly array: (shape: string, dtype: string | undefined) => string
  readonly size: (name: string) => string
  /** The calls that are made, by their first character. */
  readonly takes: string
}
const sizes = ['N', 'M', 'B', 'C', 'H', 'W']
const bound = (of: string): string => sizes.map((p) => `${p} extends ${of}`).join(', ')
const expr = (shape: string, dtype: string | undefined): string => `cd.Expr<${shape}, ${dtype ?? "'f64'"}>`
/** What is a parameter in each. */
export const SETTINGS: readonly Setting[] = [
  { name: 'numbers', parameters: bound('number'), array: expr, size: (p) => p, takes: ' !~-^' },
  { name: 'dims', parameters: bound('cd.Dim'), array: expr, size: () => 'number', takes: ' !~-^' },
  { name: 'tensors', parameters: bound('number'), array: (s, d) => expr(s, d).replace('Expr', 'Tensor'), size: (p) => p, takes: ' !~-^' },
  {
    name: 'dtypes',
    parameters: `${bound('number')}, D extends cd.Float`,
    array: (s, d) => expr(s, d ?? 'D'),
    size: (p) => p,
    takes: ' !^',
  },
  { name: 'shapes', parameters: 'S extends cd.Shape', array: (s, d) => expr(s === '[]' ? s : 'S', d), size: () => 'number', takes: ' ~-^' },
  {
    name: 'operands',
    parameters: "A extends cd.Expr, I extends cd.Expr<cd.Shape, 'i32'>, Z extends cd.Expr<cd.Shape, 'bool'>",
    array: (_, d) => (d === undefined ? 'A' : d === "'i32'" ? 'I' : 'Z'),
    size: () => 'number',
    takes: ' -',
  },
  {
    name: 'operand',
    parameters: '_',
    array: (_, d) => (d === undefined ? 'cd.Expr' : `cd.Expr<cd.Shape, ${d}>`),
    size: () => 'number',
    takes: ' ~-',
  },
]
/** What goes on with any result. */
export const after: readonly string[] = [
  'cd.sum(y)',
  'cd.add(y, y)',
  'cd.mul(2, y)',
  'cd.add(y, one)',
  'cd.sub(one, y)',
  'cd.reshape(y, [-1])',
  'cd.stack([y, y])',
  'cd.vdot(y, y)',
  'plain(y)',
]

/** The text of the program; each call is a line of its own. `cd` is what it imports. */
export const programOf = (from: string, settings: readonly Setting[] = SETTINGS, names = Object.keys(CALLS), goesOn = after): string => {
  const body = (f: Setting): string =>
    names
      .flatMap((name) => CALLS[name] ?? [])
      .filter((call) => f.takes.includes(/^[!~^-]/.exec(call)?.[0] ?? ' '))
      .map((call) => `  {const y = cd.${call.replace(/^[!~^-]/, '')}; ${goesOn.join('; ')}}`)
      .join('\n')
  return `import * as cd from '${from}'
declare const plain: (x: cd.Expr) => void
declare const one: cd.Scalar<'f64'>
${settings
  .map(
    (f) => `export const ${f.name} = <${f.parameters}>(
  ${ARRAYS.map(([name, shape, dtype]) => `${name}: ${f.array(shape, dtype)}`).join(', ')},
  n: ${f.size('N')}, w: ${f.size('M')}, k: number, operand: cd.Expr,
) => {
${body(f)}
}`,
  )
  .join('\n')}
`
}
/** The names of one operation of each type. */
export const ONE_OF_EACH = Object.keys(CALLS).filter((name) => !ALIKE.has(name))
