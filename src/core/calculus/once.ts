/** What one derivation makes once: the derivative of a step, which loops around it ask for again and again. */

interface Branch {
  readonly next: Map<unknown, Branch>
  made?: { readonly value: unknown }
}
const branch = (): Branch => ({ next: new Map() })

/** Values by lists of keys: objects by identity, strings and numbers by value. */
export class Once {
  private readonly root = branch()

  /** What `make` gave when these keys were first asked for. */
  get<T>(keys: readonly unknown[], make: () => T): T {
    let at = this.root
    for (const key of keys) {
      let next = at.next.get(key)
      if (next === undefined) {
        next = branch()
        at.next.set(key, next)
      }
      at = next
    }
    at.made ??= { value: make() }
    return at.made.value as T
  }
}
