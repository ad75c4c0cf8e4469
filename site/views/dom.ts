/** Elements made of data. Texts are set as text, never as markup. */

type Child = Node | string
const append = <E extends Element>(element: E, attributes: Readonly<Record<string, string>>, children: readonly Child[]): E => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}
export const html = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => append(document.createElement(tag), attributes, children)
export const svg = <K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] =>
  append(
    document.createElementNS('http://www.w3.org/2000/svg', tag),
    Object.fromEntries(Object.entries(attributes).map(([k, v]) => [k, String(v)])),
    children,
  )
/** A paragraph that explains a view. */
export const about = (text: string): HTMLElement => html('p', { class: 'about' }, text)
