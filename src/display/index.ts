/** `codual/display`: what notebooks show, as HTML and SVG. Written with the public interface alone; nobody who does not import it has a byte of it. */
export { type Graph, type GraphEdge, type GraphNode, graphOf } from './graph.js'
export type { Series } from './plot.js'
export { type PlotOptions, plot, type Rendered, type RenderOptions, render, renderInNotebooks } from './render.js'
