/** A program as text, and its derivative beside it: lines that belong together have the same number and colour. */
import type { Look } from '../run/messages.js'
import type { Belongs } from '../run/together.js'
import { about, html } from './dom.js'

const COLOURS = 6

/** A line of a text, and the equations of the program that it belongs to. */
export interface MarkedLine {
  readonly text: string
  readonly belongs?: Belongs
}
/** The lines of a program as `show` prints it, each with what its equation belongs to; bodies belong to the equation that holds them. */
export const markedLines = (text: string, belongs: (equation: number) => Belongs | undefined): readonly MarkedLine[] => {
  let equation = -1
  return text.split('\n').map((line) => {
    if (/^ {2}y\d/.test(line)) equation++
    const found = /^ {2,}/.test(line) && !/^ {2}return /.test(line) && equation >= 0 ? belongs(equation) : undefined
    return { text: line, ...(found !== undefined && { belongs: found }) }
  })
}
/** The numbers of equations, from 1; with a prime where the line is part of their derivative. */
const numbered = ({ equations, derives }: Belongs): string => `${equations.map((k) => k + 1).join(' ')}${derives ? '′' : ''}`

/** A column of lines with a heading. */
const column = (title: string, lines: readonly MarkedLine[], own: boolean): HTMLElement => {
  let before: Belongs | undefined
  const code = html(
    'pre',
    { class: 'equations' },
    ...lines.map(({ text, belongs }) => {
      if (belongs === undefined) return html('span', { class: 'equation' }, html('span', { class: 'number' }), `${text}\n`)
      const first = belongs !== before
      before = belongs
      const number = first ? numbered(belongs) : ''
      const badge =
        own && first
          ? html(
              'button',
              { type: 'button', class: 'number', 'aria-pressed': 'false', 'aria-label': `Mark what belongs to line ${number}` },
              number,
            )
          : html('span', { class: 'number' }, number)
      return html(
        'span',
        { class: `equation of${belongs.equations[0]! % COLOURS}`, 'data-of': belongs.equations.join(' ') },
        badge,
        `${text}\n`,
      )
    }),
  )
  return html('div', {}, html('h2', {}, title), code)
}

/** Lines that share an equation with the one under the pointer are marked, and those of a number that was pressed. */
const marking = (box: HTMLElement): void => {
  let pressed: string | undefined
  const lines = [...box.querySelectorAll<HTMLElement>('[data-of]')]
  const ofLine = (line: HTMLElement): readonly string[] => line.dataset.of!.split(' ')
  const mark = (wanted: readonly string[]): void => {
    for (const line of lines)
      line.classList.toggle(
        'together',
        ofLine(line).some((k) => wanted.includes(k)),
      )
  }
  const lineAt = (e: Event): HTMLElement | null => (e.target as Element).closest<HTMLElement>('[data-of]')
  box.addEventListener('pointerover', (e) => {
    const line = lineAt(e)
    mark(line === null ? [pressed ?? ''] : ofLine(line))
  })
  box.addEventListener('pointerleave', () => mark([pressed ?? '']))
  box.addEventListener('click', (e) => {
    const button = (e.target as Element).closest('button')
    if (button === null) return
    const of = lineAt(e)!.dataset.of!
    pressed = pressed === of ? undefined : of
    for (const b of box.querySelectorAll('button')) b.ariaPressed = String(b === button && pressed !== undefined)
    mark([pressed ?? ''])
  })
}

export const programView = ({ program, derivative }: Look): readonly HTMLElement[] => {
  if (program === undefined) return []
  if (derivative === undefined)
    return [html('div', { class: 'beside' }, html('div', {}, html('h2', {}, 'Program'), html('pre', {}, program)))]
  const box = html(
    'div',
    { class: 'beside' },
    column(
      'Program',
      markedLines(program, (k) => ({ equations: [k], derives: false })),
      true,
    ),
    column(
      derivative.of,
      markedLines(derivative.text, (k) => derivative.belongs[k]),
      false,
    ),
  )
  marking(box)
  return [about('A number says which line of the program a line belongs to: 2 computes line 2 again, 2′ is part of its derivative.'), box]
}
