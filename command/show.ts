/** `codual show` and `codual explain`: a function as a program, and its plan. */
import { inspect } from 'node:util'
import { graphOf } from '../src/display/index.js'
import { show, toJSON } from '../src/index.js'
import { derivativeOf, programOf, type Ready } from './function.js'
import { dotOf, mermaidOf } from './graph.js'

export type Format = 'text' | 'dot' | 'mermaid' | 'json'

const asked = (ready: Ready, derivative: boolean): Ready => (derivative ? { ...ready, f: derivativeOf(ready) } : ready)

export const shown = (given: Ready, derivative: boolean, format: Format): string => {
  const ready = asked(given, derivative)
  const program = programOf(ready)
  if (format === 'text') return show(program as never)
  if (format === 'json') return JSON.stringify(toJSON(program), null, 2)
  const graph = graphOf(ready.operators.fromProgram(program))
  return format === 'dot' ? dotOf(derivative ? `derivative of ${ready.name}` : ready.name, graph) : mermaidOf(graph)
}

/** What runs, what it costs, and what a derivative leaves out. */
export const explained = (given: Ready, derivative: boolean): string => {
  const { f, args, operators } = asked(given, derivative)
  const compiled = operators.compile(f)
  try {
    return inspect(compiled.explain(...args))
  } finally {
    compiled.dispose()
  }
}
