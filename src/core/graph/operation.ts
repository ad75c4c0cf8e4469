/** Operations as users see them: their public types, and the primitives that a module of them declares. */
import type { AnyPrimitive } from './primitive.js'

/**
 * The public type F of a function that is built without one: an operation takes whatever it is given, checks it and builds nodes;
 * what shapes and dtypes mean to the compiler is F alone. The one cast between the two.
 */
export const typed = <F>(f: (...xs: never[]) => unknown): F => f as F

/** The primitive that an export is, or that it knows. */
type PrimitiveOf<T> = T extends { readonly primitive: infer P extends AnyPrimitive } ? P : T extends AnyPrimitive ? T : never
/** The primitives of modules, by name. */
export type Primitives<M> = { readonly [K in keyof M as PrimitiveOf<M[K]>['name']]: PrimitiveOf<M[K]> }

/** That of an export: itself, or of an operation. */
export const primitiveIn = (x: unknown): AnyPrimitive | undefined => {
  const { primitive, shapeRule } = (x ?? {}) as { readonly primitive?: AnyPrimitive; readonly shapeRule?: unknown }
  return primitive ?? (typeof shapeRule === 'function' ? (x as AnyPrimitive) : undefined)
}
/**
 * The table of a family: every primitive that its modules export, itself or as an operation that knows it, in the order of their names. What is drawn from a table is so the same
 * everywhere: the exports of a module have one order where a loader keeps that of its text, and another where it is an engine's own module.
 */
export const primitivesIn = <M extends object>(exports: M): Primitives<M> =>
  Object.fromEntries(
    Object.values(exports)
      .flatMap((x): readonly (readonly [string, AnyPrimitive])[] => {
        const p = primitiveIn(x)
        return p === undefined ? [] : [[p.name, p]]
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ) as Primitives<M>
