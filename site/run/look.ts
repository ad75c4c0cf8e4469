/** What a statement of a program is about: the function that it calls, its program, its derivative, its plan. */

import { checkGrad, checks, report } from '../../src/check/index.js'
import type { Program } from '../../src/core/graph/program.js'
import { add, compile, grad, isExpr, isTensor, show, sum, tensor, toProgram, treeLeaves } from '../../src/index.js'
import type { CurveAsked, CurveGiven, Explained, Look, ModeRow } from './messages.js'
import { type Inputs, modeRows } from './modes.js'
import { withoutPlaces } from './printed.js'
import { together } from './together.js'
import { jumpInWords, jumpsBetween, unsureAt } from './unsure.js'

type AnyFunction = (...args: readonly unknown[]) => unknown
type Arguments = readonly unknown[]
/** The library as it is at run time: the functions of a program have types that only its author knows. */
const untyped = { add, compile, grad, show, sum, toProgram, treeLeaves, checkGrad } as unknown as {
  readonly add: (a: unknown, b: unknown) => unknown
  readonly compile: (f: AnyFunction) => AnyFunction
  readonly grad: (f: AnyFunction) => AnyFunction
  readonly show: (program: unknown) => string
  readonly sum: (x: unknown) => unknown
  readonly toProgram: (f: AnyFunction, sizes?: Readonly<Record<string, number>>) => unknown
  readonly treeLeaves: (tree: unknown) => readonly unknown[]
  readonly checkGrad: (f: AnyFunction, options: object) => (...args: Arguments) => Parameters<typeof report>[0]
}

/** What was seen of a statement while it ran. */
export interface Seen {
  readonly value?: unknown
  readonly call?: { readonly f: unknown; readonly args: Arguments }
}
/** Of functions: what they were made of, as `grad(f)` of f, and with which arguments they were last called. */
export interface Known {
  readonly madeOf: ReadonlyMap<unknown, unknown>
  readonly calls: ReadonlyMap<unknown, Arguments>
  /** The constant that holds it. */
  readonly nameOf: (f: unknown) => string | undefined
}
/** The function that a statement is about, the derivative or other function made of it, and arguments, where they are known. */
interface Subject {
  readonly f: AnyFunction
  readonly made?: AnyFunction
  readonly args?: Arguments
}

const isFunction = (x: unknown): x is AnyFunction => typeof x === 'function'
const isNumeric = (x: unknown): boolean => typeof x === 'number' || (Array.isArray(x) && x.every(isNumeric))
const isArray = (x: unknown): boolean => isTensor(x) || (ArrayBuffer.isView(x) && !(x instanceof DataView)) || isNumeric(x)

/** A tree of arguments with each array replaced. */
const mapArrays = (x: unknown, change: (array: unknown) => unknown): unknown =>
  isArray(x)
    ? change(x)
    : Array.isArray(x)
      ? x.map((y) => mapArrays(y, change))
      : typeof x === 'object' && x !== null
        ? Object.fromEntries(Object.entries(x).map(([k, y]) => [k, mapArrays(y, change)]))
        : x
const shapeOf = (x: unknown): readonly number[] =>
  isTensor(x)
    ? x.shape
    : ArrayBuffer.isView(x)
      ? [(x as Float64Array).length]
      : Array.isArray(x)
        ? [x.length, ...(x.length > 0 ? shapeOf(x[0]) : [])]
        : []
const shapesOf = (args: Arguments): readonly (readonly number[])[] => {
  const shapes: (readonly number[])[] = []
  for (const arg of args) mapArrays(arg, (x) => shapes.push(shapeOf(x)))
  return shapes
}

/** Shapes of the inputs of a program, from the first line that `show` prints. */
const inputShapes = (text: string): readonly (readonly number[])[] =>
  [...text.split('\n')[0]!.matchAll(/: \w+ \[([\d, ]*)\]/g)].map((m) => (m[1] === '' ? [] : m[1]!.split(', ').map(Number)))
const key = (shapes: readonly (readonly number[])[]): string =>
  shapes
    .map((s) => s.join('x'))
    .sort()
    .join(' ')

/** The sizes of the axes that a declaration names: those with which its inputs have the shapes of the arguments. */
const sizesFor = (f: AnyFunction, args: Arguments): Readonly<Record<string, number>> => {
  const shapes = shapesOf(args)
  const lengths = [...new Set(shapes.flat())]
  const wanted = key(shapes)
  let tries = 0
  const search = (sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> | undefined => {
    if (++tries > 500) return undefined
    try {
      return key(inputShapes(untyped.show(untyped.toProgram(f, sizes)))) === wanted ? sizes : undefined
    } catch (e) {
      const name = /the size of '(\w+)' is not known/.exec((e as Error).message)?.[1]
      if (name === undefined || name in sizes) throw e
      for (const n of lengths) {
        const found = search({ ...sizes, [name]: n })
        if (found !== undefined) return found
      }
      return undefined
    }
  }
  return search({}) ?? {}
}
/** The program of a function at its arguments, or as it is declared. */
const programOf = (f: AnyFunction, args: Arguments | undefined): unknown => {
  let traced: unknown
  try {
    traced = untyped.toProgram(f)
  } catch (e) {
    if (args === undefined) throw e
    return untyped.toProgram(f, sizesFor(f, args))
  }
  if (!isFunction(traced)) return traced
  if (args === undefined) throw new Error('Call this function on some line, as f([1, 2, 3]): then its shapes are known.')
  return traced(...args)
}
const textOf = (f: AnyFunction, args: Arguments | undefined): string => untyped.show(programOf(f, args))
const attempt = <A>(make: () => A): { readonly value?: A; readonly error?: string } => {
  try {
    return { value: make() }
  } catch (e) {
    return { error: withoutPlaces((e as Error).message) }
  }
}

const subjectOf = ({ value, call }: Seen, { madeOf, calls }: Known): Subject | undefined => {
  const outer = isFunction(call?.f) ? call.f : isFunction(value) ? value : undefined
  if (outer === undefined || isExpr(value)) return undefined
  const chain: AnyFunction[] = []
  for (let f: unknown = outer; isFunction(f) && !chain.includes(f); f = madeOf.get(f)) chain.push(f)
  const f = chain.at(-1)!
  const args = outer === call?.f ? call.args : chain.map((g) => calls.get(g)).find((known) => known !== undefined)
  // What compile gives runs, and cannot be traced: its argument is.
  const made = chain.find((g) => g !== f && attempt(() => textOf(g, args)).value !== undefined)
  return { f, ...(made !== undefined && { made }), ...(args !== undefined && { args }) }
}

/** A function with a number as its result: f, or the sum of what it gives. */
const scalar = (f: AnyFunction, args: Arguments | undefined): { readonly of: AnyFunction; readonly name: string } => {
  const result = attempt(() => textOf(untyped.grad(f), args))
  return result.error === undefined
    ? { of: f, name: 'grad(f)' }
    : {
        of: (...xs) =>
          untyped
            .treeLeaves(f(...xs))
            .map((y) => untyped.sum(y))
            .reduce((a, b) => untyped.add(a, b)),
        name: 'gradient of the sum of f',
      }
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
/** How many numbers the first argument holds: by these a derivative is taken. */
const entriesOf = (args: Arguments | undefined): number =>
  args === undefined ? 0 : shapesOf(args.slice(0, 1)).reduce((n, shape) => n + sizeOf(shape), 0)

/** The tabs of a statement. */
export const look = (seen: Seen, known: Known): Look => {
  const expression = [seen.value, ...(seen.call?.args ?? [])].find(isExpr)
  if (expression !== undefined) {
    return { program: show(expression), entries: 0, note: 'An expression: write a function of its inputs to see a derivative.' }
  }
  const subject = subjectOf(seen, known)
  if (subject === undefined) return { entries: 0, note: 'Nothing to show here: put the cursor on a line that calls a function of arrays.' }
  const { f, made, args } = subject
  const program = attempt(() => textOf(f, args))
  if (program.value === undefined) return { entries: 0, ...explainedOf(seen.call?.f, args), note: program.error ?? '' }
  const own = made === undefined ? scalar(f, args) : undefined
  const derived = made ?? untyped.grad(own!.of)
  const derivative = attempt(() => textOf(derived, args))
  return {
    program: program.value,
    ...(derivative.value !== undefined && {
      derivative: {
        of: own?.name ?? derivative.value.split('\n')[0]!.replace(/\(\w+: .*/, ''),
        text: derivative.value,
        belongs: together(
          () => programOf(f, args) as Program,
          () => programOf(derived, args) as Program,
        ),
      },
    }),
    ...(derivative.error !== undefined && { note: derivative.error }),
    ...explainedOf(untyped.compile(derivative.value === undefined ? f : derived), args),
    entries: entriesOf(args),
  }
}
const explainedOf = (f: unknown, args: Arguments | undefined): { readonly explained?: Explained } => {
  if (args === undefined || !isFunction(f) || !('explain' in f)) return {}
  const { value } = attempt(() => (f.explain as AnyFunction)(...args))
  // As JSON, which a message can hold.
  return value === undefined ? {} : { explained: JSON.parse(JSON.stringify(value)) as Explained }
}

/** `inconclusive` asks for nothing, and what only rules and registries have is not asked of a function. */
const names = (Object.keys(checks) as readonly (keyof typeof checks)[]).filter((name) => name !== 'inconclusive')
/** The gradient checker on f at the arguments, check by check; what it found, as text, and the line that finds it again. */
export const check = (
  seen: Seen,
  known: Known,
  progress: (done: number, of: number) => void,
): { readonly ok: boolean; readonly text: string } => {
  const subject = subjectOf(seen, known)
  if (subject?.args === undefined) throw new Error('Put the cursor on a line that calls a function of arrays.')
  const { f, args } = subject
  names.forEach((name, i) => {
    progress(i, names.length + 1)
    untyped.checkGrad(f, { checks: Object.fromEntries(names.map((n) => [n, n === name])) })(...args)
  })
  const result = untyped.checkGrad(f, {})(...args)
  progress(names.length + 1, names.length + 1)
  const replay = `\n  replay: checkGrad(${known.nameOf(f) ?? 'f'}, { seed: 1 })(${args.map(written).join(', ')})`
  return { ok: result._tag === 'Right', text: withoutPlaces(`${report(result)}${result._tag === 'Right' ? replay : ''}`) }
}
/** The arrays of the arguments by their paths: of a single argument without a number in front. */
const inputsOf = (args: Arguments): Inputs => {
  const inputs = new Map<string, { readonly data: ArrayLike<number>; readonly shape: readonly number[] }>()
  const visit = (x: unknown, path: string): void => {
    if (isArray(x)) inputs.set(path, { data: isTensor(x) ? x.data : [x as number].flat(9), shape: shapeOf(x) })
    else if (typeof x === 'object' && x !== null) for (const [k, y] of Object.entries(x)) visit(y, path === '' ? k : `${path}.${k}`)
  }
  if (args.length === 1) visit(args[0], '')
  else args.forEach((arg, i) => void visit(arg, String(i)))
  return inputs
}
/** The program of f at the arguments, line by line in both modes. */
export const modes = (seen: Seen, known: Known): readonly ModeRow[] => {
  const subject = subjectOf(seen, known)
  if (subject?.args === undefined) throw new Error('Put the cursor on a line that calls a function of arrays.')
  return modeRows(programOf(subject.f, subject.args), inputsOf(subject.args))
}

const WRITTEN = 160
const written = (arg: unknown): string => {
  const text = isTensor(arg) ? `tensor(${JSON.stringify(arg.toArray())})` : JSON.stringify(arg)
  return text.length <= WRITTEN ? text : '... the same argument'
}

/** Arguments with one of the entries of the first replaced by a number. */
const withEntry = ([first, ...rest]: Arguments, entry: number, x: number): Arguments => {
  let before = 0
  const changed = mapArrays(first, (array) => {
    const shape = shapeOf(array)
    const at = entry - before
    before += sizeOf(shape)
    if (at < 0 || at >= sizeOf(shape)) return array
    if (typeof array === 'number') return x
    const data = (
      isTensor(array)
        ? array.data
        : ArrayBuffer.isView(array)
          ? (array as Float64Array)
          : Float64Array.from((array as readonly number[]).flat(9))
    ).slice()
    data[at] = x
    return tensor(data, shape)
  })
  return [changed, ...rest]
}
/** Numbers of a tree, in order. */
const numbersOf = (tree: unknown): readonly number[] => {
  const all: number[] = []
  mapArrays(tree, (x) => void all.push(...(isTensor(x) ? x.data : [x as number].flat(9))))
  return all
}
const POINTS = 201
/** f and its derivative where one entry of the first argument moves over an interval and all else stays. */
export const curveOf = (seen: Seen, known: Known, { entry, from, to, sure }: CurveAsked): CurveGiven => {
  const subject = subjectOf(seen, known)
  if (subject?.args === undefined) throw new Error('Put the cursor on a line that calls a function of arrays.')
  const { f, args } = subject
  const { of } = scalar(f, args)
  const value = untyped.compile(of)
  const slope = untyped.compile(untyped.grad(of))
  const valueAt = (t: number): number => numbersOf(value(...withEntry(args, entry, t)))[0]!
  const slopeAt = (t: number): number => numbersOf(slope(...withEntry(args, entry, t)))[entry]!
  const grid = Array.from({ length: POINTS }, (_, i) => from + ((to - from) * i) / (POINTS - 1))
  const single = untyped.treeLeaves(value(...withEntry(args, entry, from))).some((leaf) => isTensor(leaf) && leaf.dtype === 'f32')
  const slopesOf = grid.map(slopeAt)
  if (!sure) return { x: grid, y: grid.map(valueAt), dy: slopesOf }
  const { unsure, checkedTo } = unsureAt(valueAt, grid, slopesOf, single)
  const jumps = jumpsBetween(slopeAt, grid, slopesOf).filter((jump) => !unsure.some((u) => Math.abs(u.x - jump.x) < 1e-6 * (to - from)))
  const x = [...grid, ...jumps.map((jump) => jump.x)].sort((a, b) => a - b)
  const places = [...unsure, ...jumps.map((jump) => ({ x: jump.x, y: valueAt(jump.x), text: jumpInWords(jump) }))].sort((a, b) => a.x - b.x)
  return { x, y: x.map(valueAt), dy: x.map(slopeAt), sure: { unsure: places, checkedTo } }
}
