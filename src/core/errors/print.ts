import { greatestOf } from './extremes.js'
/** How objects print: as text of their own in Node's console and in templates, without a library of Node's. */

/** What Node's `inspect` hands to a printer: a style's colours, where the terminal has them. */
export interface Styles {
  readonly stylize?: (text: string, style: string) => string
}
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** x, which prints as `text` says. The printers are no properties that a comparison or JSON sees. */
export const printedAs = <X extends object>(x: X, text: (x: X, styles: Styles) => string): X => {
  const hidden = (value: unknown): PropertyDescriptor => ({ value, enumerable: false, configurable: true, writable: true })
  Object.defineProperty(
    x,
    INSPECT,
    hidden((_depth: number, styles?: Styles) => text(x, styles ?? {})),
  )
  Object.defineProperty(
    x,
    'toString',
    hidden(() => text(x, {})),
  )
  return x
}

/** Lines of a table: columns as wide as their widest cell, numbers to the right. */
export const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): readonly string[] => {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? grouped(cell) : cell)))
  const widths = head.map((h, i) =>
    greatestOf(
      texts.map((row) => row[i]!.length),
      h.length,
    ),
  )
  const right = head.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (right[i] === true ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [line(head), ...texts.map(line)]
}
/** 1,234,567. */
export const grouped = (n: number): string => (Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, ',') : String(n))
