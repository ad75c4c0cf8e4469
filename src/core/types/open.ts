// What is decided later: types of code that is generic in trees.

declare const unknownYet: unique symbol
/** No value has it: whether a type is of this kind TypeScript says at once of what is known, and later where the type is a parameter or computed of one. */
export interface Later {
  readonly [unknownYet]: true
}
/** unknown while the type of T is a parameter, or computed of one, else never: what a signature takes that is for code which is generic in trees. */
export type Open<T> = ([T] extends [Later] ? { readonly given: unknown } : { readonly given: never })['given']
/** The other way: what a signature takes beside one for such code, which TypeScript asks first of what is decided. */
export type Closed<T> = ([T] extends [Later] ? { readonly given: never } : { readonly given: unknown })['given']
