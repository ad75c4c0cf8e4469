/** Tables for a terminal, without lines, as wide as what is in them; and colours where the terminal has them. */

import { styleText } from 'node:util'
import Table from 'cli-table3'

const none = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
  ].map((part) => [part, '']),
)
/** Rows under their heads; those that `right` names stand to the right. */
export const tableText = (heads: readonly string[], rows: readonly (readonly string[])[], right: readonly number[] = []): string => {
  const table = new Table({
    head: [...heads],
    chars: { ...none, middle: '  ' },
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    colAligns: heads.map((_, i) => (right.includes(i) ? 'right' : 'left')),
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

export type Paint = (style: 'green' | 'red' | 'yellow' | 'dim' | 'bold', text: string) => string
/** Colours of a stream: none in a file, a pipe, or where NO_COLOR says so. */
export const paintOf = (stream: Pick<NodeJS.WriteStream, 'isTTY'>): Paint =>
  stream.isTTY && process.env.NO_COLOR === undefined ? (style, text) => styleText(style, text) : (_style, text) => text
