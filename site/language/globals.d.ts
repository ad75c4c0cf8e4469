/** What a program of the playground finds beside the language: it runs in a worker without network, storage or page. */
interface Console {
  /** Prints values: tensors as tables, functions by their names. */
  log(...values: readonly unknown[]): void
  /** As `log`, marked as a warning. */
  warn(...values: readonly unknown[]): void
  /** As `log`, marked as an error. */
  error(...values: readonly unknown[]): void
}
declare var console: Console
interface Performance {
  /** Milliseconds since the program started. */
  now(): number
}
declare var performance: Performance
declare function setTimeout(callback: () => void, ms?: number): number
declare function clearTimeout(id: number): void
declare function queueMicrotask(callback: () => void): void
declare function structuredClone<T>(value: T): T
interface AbortSignal {
  readonly aborted: boolean
}
interface AbortController {
  readonly signal: AbortSignal
  abort(): void
}
declare var AbortController: { new (): AbortController }
