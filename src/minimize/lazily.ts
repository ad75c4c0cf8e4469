/** What is made when it is first asked for. */
export const lazily = <T>(make: () => T): (() => T) & { readonly made: () => T | undefined } => {
  let made: T | undefined
  return Object.assign(() => (made ??= make()), { made: () => made })
}
