/** What the tests of the solvers share: running on the oracle, which walks a loop as a loop, and numbers that are near. */
import { expect } from 'vitest'
import * as cd from '../../src/index.js'

export type Call = (...xs: readonly unknown[]) => never
/** Operations without their types: the tests build expressions of every shape. */
export const ops = cd as unknown as Readonly<Record<string, Call>>
export type E = cd.AnyExpr

const plain = (x: unknown): unknown => cd.treeMap((leaf: unknown) => (leaf as cd.Tensor).toArray(), x as E)
/** The numbers of expressions, or of a function at arguments, by the meanings of the primitives. */
export const value = (x: unknown): never => run(() => x)
export const run = (f: unknown, ...args: readonly unknown[]): never =>
  plain((cd.compile(f as never, cd.reference()) as Call)(...args)) as never
/** The same on the CPU backend. */
export const onCpu = (f: unknown, ...args: readonly unknown[]): never => plain((cd.compile(f as never, cd.cpu()) as Call)(...args)) as never
/** The message of the error that f raises. */
export const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e))
      return e.message
        .split('\n')
        .filter((l) => !l.startsWith('  at '))
        .join('\n')
    throw e
  }
  return 'no error'
}
/** Every number is near that of the other tree. */
export const near = (got: unknown, want: unknown, tolerance: number): void => {
  const far = (a: unknown, b: unknown): boolean =>
    Array.isArray(b)
      ? !Array.isArray(a) || a.length !== b.length || b.some((x, i) => far(a[i], x))
      : !(Math.abs((a as number) - (b as number)) <= tolerance * Math.max(1, Math.abs(b as number)))
  if (far(got, want)) expect(got).toEqual(want)
}
