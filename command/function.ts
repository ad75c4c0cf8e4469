/** The function that `FILE#name` means, at arguments: given in `checks`, or drawn from what it declares. */
import { drawArguments } from '../src/check/index.js'
import { type AnyExpr, interpret, isAdException, type Program } from '../src/index.js'
import { fail, inWords } from './failure.js'
import { type Loaded, loadNamed } from './load.js'
import { CHECKS, type Given, isPlugin, isRule, type Kit, kitOf } from './subjects.js'

/** Any function over arrays. The types of codual's transforms are for functions whose shapes the compiler knows. */
export type Any = (...args: readonly unknown[]) => unknown
/** The operators, for such functions. */
export interface Operators {
  readonly grad: (f: Any, options?: object) => Any
  readonly valueAndGrad: (f: Any, options?: object) => Any
  readonly jacrev: (f: Any, options?: object) => Any
  readonly compile: (f: Any) => Compiled
  readonly toProgram: (f: Any, sizes?: object) => unknown
  readonly fromProgram: (p: Program) => Any & { readonly _tag: 'Fn' }
}
export interface Compiled extends Any {
  readonly explain: (...args: readonly unknown[]) => {
    readonly peakBytes: number
    readonly bytes: number
    readonly flops: number
    readonly kernels: number
  }
  readonly dispose: () => void
}
/** A function with all that is needed to run it. */
export interface Ready {
  readonly name: string
  readonly f: Any
  readonly args: readonly unknown[]
  /** Sizes of the named dimensions of a declared function. */
  readonly sizes: Readonly<Record<string, number>> | undefined
  readonly kit: Kit
  readonly operators: Operators
}

/** `n=1000` as a size; `seed` and `size` are options of every command that draws. */
export interface Drawn {
  readonly seed: number
  readonly size: Readonly<Record<string, number>>
}

const givenTo = ({ exports }: Loaded, name: string): Given => {
  const entry = (exports[CHECKS] as Readonly<Record<string, Given | false>> | undefined)?.[name]
  return entry === undefined || entry === false ? {} : entry
}

/** Arguments of a function: those of `checks`, or drawn ones. */
export const argumentsFor = (f: Any, given: Given, { seed, size }: Drawn, what: string, fix: string): Pick<Ready, 'args' | 'sizes'> => {
  if (given.args !== undefined) {
    if (Object.keys(size).length > 0) fail(`${what} takes its arguments from ${CHECKS}, so --size has no effect.`, 'leave one of them out.')
    return { args: given.args, sizes: undefined }
  }
  const { sizes, domain } = given as { readonly sizes?: Readonly<Record<string, readonly [number, number]>>; readonly domain?: object }
  const fixed = Object.fromEntries(Object.entries(size).map(([name, n]) => [name, [n, n] as const]))
  try {
    return drawArguments(f, { seed, sizes: { ...sizes, ...fixed }, ...(domain !== undefined && { domain: domain as never }) })
  } catch (error) {
    if (!isAdException(error)) throw error
    return error.error._tag === 'BadInput' && error.error.reason.includes('does not declare')
      ? fail(`there are no arguments for ${what}, and none can be drawn since it declares no inputs.`, fix)
      : fail(`arguments for ${what} cannot be drawn.\n${inWords(error).replace(/^/gm, '  ')}`)
  }
}

export const readyFor = async (given: string, drawn: Drawn): Promise<Ready> => {
  const { loaded, name, value } = await loadNamed(given)
  if (isRule(value) || isPlugin(value))
    return fail(`${name} is a ${isRule(value) ? 'rule' : 'plugin'}, not a function.`, 'codual check is for rules and plugins.')
  if (typeof value !== 'function') return fail(`${name} of ${loaded.path} is not a function.`)
  const kit = kitOf(loaded)
  const f = value as Any
  return {
    name,
    f,
    kit,
    operators: kit.codual as unknown as Operators,
    ...argumentsFor(
      f,
      givenTo(loaded, name),
      drawn,
      name,
      `export const ${CHECKS} = { ${name}: { args: [...] } }, or declare its inputs with fn.`,
    ),
  }
}

/** The program of a function at its arguments; a declared one keeps the names of its inputs. */
export const programOf = ({ f, args, sizes, operators }: Pick<Ready, 'f' | 'args' | 'sizes' | 'operators'>): Program =>
  (sizes === undefined ? (operators.toProgram(f) as Any)(...args) : operators.toProgram(f, sizes)) as Program

/** What a program gives: one number, or arrays. */
const isScalar = (p: Program, operators: Operators): boolean => {
  const shapes: (readonly number[])[] = []
  const shape = (of: readonly number[]) => ({ shape: of })
  const out = interpret<{ readonly shape: readonly number[] }>({
    input: (at) => shape(at.shape),
    literal: () => shape([]),
    captured: (x) => shape(x.shape as readonly number[]),
    apply: (at) => at.results.map((r) => shape(r.shape)),
  })(operators.fromProgram(p) as never) as unknown
  const visit = (x: unknown): void => {
    if (typeof x !== 'object' || x === null) return
    if (Array.isArray((x as { shape?: unknown }).shape)) shapes.push((x as { shape: readonly number[] }).shape)
    else for (const y of Object.values(x)) visit(y)
  }
  visit(out)
  return shapes.length === 1 && shapes[0]!.length === 0
}
/** The derivative by the arguments: the gradient of a number, the Jacobian of arrays. */
export const derivativeOf = (ready: Pick<Ready, 'f' | 'args' | 'sizes' | 'operators'>): Any =>
  isScalar(programOf(ready), ready.operators) ? ready.operators.grad(ready.f) : ready.operators.jacrev(ready.f)
export type { AnyExpr }
