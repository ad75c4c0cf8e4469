/** Numbers that follow from the sizes of named axes: found by writing the same program at several sizes, and shown to hold at others. */

/** A polynomial in the sizes, of degree up to two in each, over a whole number; `form` says what of it the number is. */
export interface Formula {
  readonly terms: readonly { readonly powers: readonly number[]; readonly factor: number }[]
  readonly over: number
  readonly form: Form
}
/** The number itself, its reciprocal, its square root, or the reciprocal of that. */
export type Form = 'itself' | 'reciprocal' | 'root' | 'reciprocal root'
const undo: Readonly<Record<Form, (x: number) => number>> = {
  itself: (x) => x,
  reciprocal: (x) => 1 / x,
  root: (x) => x * x,
  'reciprocal root': (x) => 1 / (x * x),
}
const redo: Readonly<Record<Form, (x: number) => number>> = { ...undo, root: Math.sqrt, 'reciprocal root': (x) => 1 / Math.sqrt(x) }

/** The value at sizes. */
export const valueAt = ({ terms, over, form }: Formula, sizes: readonly number[]): number =>
  redo[form](terms.reduce((sum, { powers, factor }) => sum + powers.reduce((p, e, i) => p * sizes[i]! ** e, factor), 0) / over)

/** Primes, so that no size is a product, a sum or a neighbour of others by chance. */
const PRIMES = [11, 17, 29, 37, 53, 67, 79, 97, 113, 131, 149, 163, 181, 199, 223, 239]
/** Sizes at which a program is written: those of a grid, and two more at which formulas are tried. `factor` divides all. */
export const probesOf = (
  count: number,
  factor: number,
): { readonly grid: readonly (readonly number[])[]; readonly trials: readonly (readonly number[])[] } => {
  const degree = degreeOf(count)
  const at = (axis: number, k: number): number => factor * PRIMES[(axis + k * count) % PRIMES.length]!
  let grid: readonly (readonly number[])[] = [[]]
  for (let axis = 0; axis < count; axis++) grid = grid.flatMap((g) => Array.from({ length: degree + 1 }, (_, k) => [...g, at(axis, k)]))
  const trial = (k: number): readonly number[] => Array.from({ length: count }, (_, axis) => at(axis, degree + k))
  return { grid, trials: [trial(1), trial(2)] }
}
/** Of many axes only products of different ones are found. */
const degreeOf = (count: number): number => (count <= 2 ? 2 : 1)

/** The factors of the powers of one size that take these values at these sizes: Newton's divided differences. */
const powersOf = (xs: readonly number[], ys: readonly number[]): readonly number[] => {
  const differences = [...ys]
  for (let j = 1; j < xs.length; j++)
    for (let i = xs.length - 1; i >= j; i--) differences[i] = (differences[i]! - differences[i - 1]!) / (xs[i]! - xs[i - j]!)
  let made: number[] = [0]
  for (let i = xs.length - 1; i >= 0; i--) {
    const next = new Array<number>(made.length + 1).fill(0)
    made.forEach((c, k) => {
      next[k + 1]! += c
      next[k]! -= c * xs[i]!
    })
    next[0]! += differences[i]!
    made = next.slice(0, xs.length)
  }
  return made
}
/** The same in all axes, one after the other: the values stand as the grid does, the last axis fastest. */
const factorsOf = (grid: readonly (readonly number[])[], values: readonly number[], count: number): readonly number[] => {
  const n = degreeOf(count) + 1
  let now = [...values]
  for (let axis = 0; axis < count; axis++) {
    const stride = n ** (count - 1 - axis)
    const next = [...now]
    for (let i = 0; i < now.length; i++) {
      if (Math.floor(i / stride) % n !== 0) continue
      const places = Array.from({ length: n }, (_, k) => i + k * stride)
      const found = powersOf(
        places.map((p) => grid[p]![axis]!),
        places.map((p) => now[p]!),
      )
      places.forEach((p, k) => {
        next[p] = found[k]!
      })
    }
    now = next
  }
  return now
}

/** Denominators of up to this are looked for. */
const MOST = 64
const near = (a: number, b: number, tolerance: number): boolean => a === b || Math.abs(a - b) <= tolerance * Math.abs(b)

/** The formula of numbers at the sizes of the grid and the trials; undefined where there is none of this kind. `tolerance`: of their rounding. */
export const formulaOf = (
  { grid, trials }: ReturnType<typeof probesOf>,
  values: readonly number[],
  forms: readonly Form[],
  tolerance: number,
): Formula | undefined => {
  const count = grid[0]!.length
  const n = degreeOf(count) + 1
  for (const form of forms) {
    const factors = factorsOf(grid, values.slice(0, grid.length).map(undo[form]), count)
    for (let over = 1; over <= MOST; over++) {
      const whole = factors.map((f) => Math.round(f * over))
      const terms = whole.flatMap((factor, i) =>
        factor === 0 ? [] : [{ factor, powers: Array.from({ length: count }, (_, axis) => Math.floor(i / n ** (count - 1 - axis)) % n) }],
      )
      const formula: Formula = { terms, over, form }
      if ([...grid, ...trials].every((sizes, i) => near(valueAt(formula, sizes), values[i]!, tolerance))) return formula
    }
  }
  return undefined
}

/** A formula in words: the name of an axis for its size. */
export const inWords = ({ terms, over }: Formula, names: readonly string[]): string => {
  const sum = terms
    .map(({ powers, factor }) =>
      [
        ...(factor === 1 && powers.some((e) => e > 0) ? [] : [String(factor)]),
        ...powers.flatMap((e, i) => new Array<string>(e).fill(names[i]!)),
      ].join('*'),
    )
    .join(' + ')
  return over === 1 ? sum : `(${sum})/${over}`
}
