/** What notebooks ask of an object, and how they are answered. */

import { shown } from '../core/errors/check-arguments.js'
import { badInput, raise } from '../core/errors/explain.js'
import { flag, integer, type OptionsOf, readOptions } from '../core/errors/options.js'
import { mul, tensor } from '../index.js'
import { cut, framed, type Markup, plain, pre } from './html.js'
import { look } from './look.js'
import { plotSVG, type Series } from './plot.js'

/** What the kernels of Jupyter ask an object for. */
const JUPYTER = Symbol.for('Jupyter.display')

/** Something to look at: as HTML and as text, for Jupyter's kernels by itself, as an element of a page by `element()`. */
export interface Rendered {
  readonly html: string
  readonly text: string
  /** The picture alone, where it is one. */
  readonly svg?: string
  /** A new element of the page's document. */
  readonly element: () => HTMLElement
}
const rendered = (html: string, text: string, where: string, svg?: string): Rendered => {
  const made: Rendered = {
    html,
    text,
    ...(svg !== undefined && { svg }),
    element: () => {
      if (typeof document === 'undefined')
        return raise({
          _tag: 'Unsupported',
          backend: where,
          what: 'there is no document here to make an element in',
          fix: `${where}(...).html is the text of one`,
        })
      const element = document.createElement('div')
      element.innerHTML = html
      return element
    },
  }
  const bundle = () => ({ 'text/plain': text, 'text/html': html, ...(svg !== undefined && { 'image/svg+xml': svg }) })
  return Object.defineProperty(made, JUPYTER, { value: bundle, enumerable: false })
}

export const renderOptions = {
  /** Rows and columns of an array, at most; the middle of longer axes is left out. */
  most: integer(10, { from: 2, to: 50 }),
}
/** Options of `render`. */
export type RenderOptions = OptionsOf<typeof renderOptions>

/** What an object prints by itself, where it has words of its own. */
const ownText = (x: unknown): string | undefined => {
  try {
    const own = (x as { readonly toString?: unknown } | null)?.toString
    return typeof own === 'function' && own !== Object.prototype.toString && !Array.isArray(x) ? String(x) : undefined
  } catch {
    return undefined
  }
}
/**
 * An object as HTML: a tensor as a table, an expression or a program as equations and a graph, an explanation, the result of a check, an error, what
 * `fit` and `train` give as curves, a tree of tensors as a list. Anything else is its text.
 *
 * Every name and text in it is escaped; long arrays, tables and texts are cut. Jupyter's kernels show the result by themselves; in Observable write `render(x).element()`.
 * Errors  BadInput unless `most` is a number from 2 to 50.
 * @example
 * render(tensor([[1, 2], [3, 4]])).html.includes('<td>4</td>')   // true
 * render(tensor([1, 2])).text   // 'Tensor f64 [2] [1, 2]'
 */
export const render = (x: unknown, options?: RenderOptions): Rendered => {
  const { most } = readOptions(renderOptions, options, 'render')
  let made: Markup | undefined
  try {
    made = look(x, most)
  } catch {
    // An object whose getters throw, or that only looks like one of these, is its text.
  }
  const text = cut(ownText(x) ?? (made === undefined ? shown(x) : plain(made)))
  return rendered(framed(made ?? pre(text)), text, 'render')
}

export const plotOptions = {
  /** Powers of ten along y; what is not above zero is left out. */
  log: flag(),
}
/** Options of `plot`. */
export type PlotOptions = OptionsOf<typeof plotOptions>
/**
 * Numbers over their index as curves by name, in SVG: losses, paths, samples.
 *
 * NaN and infinities leave gaps; long curves keep their least and greatest numbers.
 * Errors  BadInput for a curve that is not an array of numbers.
 * @example plot({ loss: [3, 2, 1] }).text   // 'plot of loss (3)'
 */
export const plot = (series: Series, options?: PlotOptions): Rendered => {
  const { log } = readOptions(plotOptions, options, 'plot')
  if (typeof series !== 'object' || series === null || Array.isArray(series) || ArrayBuffer.isView(series))
    return badInput('plot', `the curves are ${shown(series)}.`, 'give them by name: { loss: [3, 2, 1] }.')
  const lists = Object.entries(series).map(([name, ys]) => {
    const list =
      Array.isArray(ys) || (ArrayBuffer.isView(ys) && !(ys instanceof DataView)) ? Array.from(ys as ArrayLike<unknown>) : undefined
    if (list === undefined || !list.every((y) => typeof y === 'number'))
      return badInput('plot', `the curve ${name} is ${shown(ys)}.`, 'give an array of numbers, or x.data of a tensor.')
    return [name, list as readonly number[]] as const
  })
  const svg = plotSVG(Object.fromEntries(lists), log)
  return rendered(framed(svg), `plot of ${lists.map(([name, ys]) => `${name} (${ys.length})`).join(', ')}`, 'plot', svg.text)
}

/**
 * Makes Jupyter's kernels show tensors and expressions as `render` does, without a call. Run it once, in the first cell.
 *
 * @example renderInNotebooks()   // undefined
 */
export const renderInNotebooks = (): void => {
  for (const of of [tensor(0), mul(tensor(0), 1)]) {
    const prototype = Object.getPrototypeOf(of) as object
    Object.defineProperty(prototype, JUPYTER, {
      value(this: unknown) {
        const { text, html } = render(this)
        return { 'text/plain': text, 'text/html': html }
      },
      configurable: true,
      enumerable: false,
      writable: true,
    })
  }
}
