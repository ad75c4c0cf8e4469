// How the REPL prints values: typed arrays short and without the digits that a float32 does not have.
import { type InspectOptions, inspect } from 'node:util'
import { isAdException } from '../../src/index.js'

const shown = 24

/** The shortest decimal that reads back as the same float32: 0.1, not 0.10000000149011612. */
export const float32Text = (x: number): string => {
  for (let digits = 1; digits <= 9; digits++) {
    const text = Number(x.toPrecision(digits))
    if (Object.is(Math.fround(text), x)) return numberText(text)
  }
  return numberText(x)
}

const numberText = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))

const typedArrayText = (array: ArrayLike<number>, name: string, textOf: (x: number) => string, options: InspectOptions): string => {
  const stylize = (options as { stylize?: (text: string, style: string) => string }).stylize ?? ((text: string) => text)
  const items = Array.from({ length: Math.min(array.length, shown) }, (_, i) => stylize(textOf(array[i] as number), 'number'))
  const rest = array.length > shown ? `, ... ${array.length - shown} more` : ''
  return `${name}(${array.length}) [${items.join(', ')}${rest}]`
}

/** A value as the REPL prints it: text of several lines as it is, an error of codual once and in words, all else as Node does. */
export const printed = (value: unknown, options: InspectOptions): string => {
  if (typeof value === 'string' && value.includes('\n')) return value
  const text = inspect(value, options)
  // What was typed has no line of its own in a file, and the stack is the library's.
  return isAdException(value)
    ? text
        .split('\n')
        .filter((line) => !/^\W*(?:\[\d+m)?\s+at /.test(line))
        .join('\n')
    : text
}

/** Makes this process print numeric typed arrays on one line, wherever they stand inside a value. For the REPL's process only. */
export const installPrinters = (): void => {
  const printers = [
    [Float32Array, float32Text],
    [Float64Array, numberText],
    [Int32Array, numberText],
    [Uint8Array, numberText],
  ] as const
  for (const [type, textOf] of printers) {
    Object.defineProperty(type.prototype, inspect.custom, {
      configurable: true,
      value(this: ArrayLike<number>, _depth: number, options: InspectOptions) {
        return typedArrayText(this, type.name, textOf, options)
      },
    })
  }
}
