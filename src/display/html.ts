/** HTML and SVG as text, in which every text from elsewhere is escaped: a string is text, and only what `element` made is markup. */

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
// Characters that XML refuses are a question mark: an SVG with one of them would not be drawn.
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => ENTITIES[c]!).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')

/** Markup. */
export class Markup {
  constructor(readonly text: string) {}
}
export type Child = Markup | string | number
/** Children one after the other. */
export const joined = (children: readonly Child[]): Markup =>
  new Markup(children.map((c) => (c instanceof Markup ? c.text : escaped(String(c)))).join(''))
/** An element; names of tags and attributes are the library's own. */
export const element = (tag: string, attributes: Readonly<Record<string, string | number>>, ...children: readonly Child[]): Markup => {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
  return new Markup(`<${tag}${written.join('')}>${joined(children).text}</${tag}>`)
}

/** The rules of what is drawn here, by class: a page's own styles keep theirs. */
const STYLE = `.codual table{border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums}
.codual td,.codual th{padding:.1em .6em;text-align:right;border:1px solid rgba(128,128,128,.35);font-weight:normal;white-space:nowrap}
.codual th{opacity:.65}.codual .text{text-align:left}.codual pre{margin:.3em 0;overflow-x:auto}.codual .about{opacity:.75;margin:.2em 0}`
/** What a notebook is given: the rules, then the content. */
export const framed = (...children: readonly Child[]): string =>
  element('div', { class: 'codual' }, element('style', {}, new Markup(STYLE)), ...children).text

export const about = (text: string): Markup => element('div', { class: 'about' }, text)
/** A table; the columns of which `left` is true hold texts. */
export const table = (head: readonly string[], rows: readonly (readonly Child[])[], left: readonly boolean[] = []): Markup => {
  const cell = (tag: 'td' | 'th', x: Child, i: number): Markup => element(tag, left[i] === true ? { class: 'text' } : {}, x)
  return element(
    'table',
    {},
    ...(head.length === 0 ? [] : [element('thead', {}, element('tr', {}, ...head.map((x, i) => cell('th', x, i))))]),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((x, i) => cell('td', x, i))))),
  )
}
/** Characters of a text. */
const MOST_TEXT = 20_000
/** A text without what is too much of it. */
export const cut = (text: string): string =>
  text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n... ${text.length - MOST_TEXT} more characters` : text
/** A program or a message, as it is. */
export const pre = (text: string): Markup => element('pre', {}, text)

/** The texts of markup, a row of a table on a line; pictures have none. */
export const plain = (markup: Markup): string =>
  markup.text
    .replace(/<svg[\s\S]*?<\/svg>/g, '')
    .replace(/<\/t[dh]><t[dh][^>]*>/g, '  ')
    .replace(/<\/(?:div|tr|pre|summary)>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => Object.keys(ENTITIES).find((c) => ENTITIES[c] === entity)!)
    .trim()

/** What stands for parts that are not shown. */
export const GAP = '\u2026'
/** Which of n things are shown where at most so many are: the first and the last, with undefined between them for the others. */
export const folded = (n: number, most: number): readonly (number | undefined)[] => {
  if (n <= most) return Array.from({ length: n }, (_, i) => i)
  const first = Math.ceil(most / 2)
  const last = most - first
  return [...Array.from({ length: first }, (_, i) => i), undefined, ...Array.from({ length: last }, (_, i) => n - last + i)]
}
/** At most so many, and a line that counts the others. */
export const firstOf = <X>(
  xs: readonly X[],
  most: number,
  noun: string,
): { readonly shown: readonly X[]; readonly rest: readonly Markup[] } => ({
  shown: xs.slice(0, most),
  rest: xs.length > most ? [about(`and ${xs.length - most} more ${noun}`)] : [],
})
