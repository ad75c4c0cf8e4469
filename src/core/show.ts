/** `show`: a program as numbered equations. */
import { showAval } from './aval.js'
import { CONST, INPUT, type InputInfo, linearize, type Node, OUTPUT, resultAvals } from './expr.js'
import type { Program } from './program.js'
import { leafPaths } from './tree.js'

/** A program as text: inputs, one line per equation, results. Deterministic: no ids, no addresses. */
export const showProgram = (p: Program): string => {
  const { nodes, index } = linearize(p.outputs)
  const names: string[] = new Array<string>(nodes.length)
  const lines: string[] = []
  const paths = leafPaths(p.inputTree)
  const inputName = new Map(p.inputs.map((x, i) => [x, (paths[i] ?? '').replace(/^\[0\]\.?/, '') || `x${i}`]))
  let temp = 0
  let captured = 0
  const outs = new Map<number, string[]>()
  nodes.forEach((n, i) => {
    if (n.kind === INPUT) names[i] = inputName.get(n) ?? ((n.data as InputInfo).captured ? `captured${captured++}` : 'free')
    else if (n.kind === CONST) names[i] = Object.is(n.data, -0) ? '-0' : String(n.data)
    else if (n.kind === OUTPUT) names[i] = outs.get(index.get(n.args[0]!))![n.data as number]!
    else {
      const results = resultAvals(n).map(() => `y${temp++}`)
      outs.set(i, results)
      names[i] = results[0] ?? 'none'
      const params = n.prim!.showParams?.(n.data)
      lines.push(
        `  ${results.join(', ')} = ${n.prim!.name}(${n.args.map((a) => names[index.get(a)]).join(', ')})${params ? ` {${params}}` : ''} : ${resultAvals(n).map(showAval).join(', ')}`,
      )
    }
  })
  const show = (n: Node): string => names[index.get(n)]!
  const head = `${p.name}(${p.inputs.map((x) => `${inputName.get(x)}: ${showAval(x.aval)}`).join(', ')})`
  const outPaths = leafPaths(p.outputTree)
  return [
    head,
    ...lines,
    `  return ${p.outputs.map((o, i) => (outPaths[i] === '' ? show(o) : `${outPaths[i]}: ${show(o)}`)).join(', ')}`,
  ].join('\n')
}
