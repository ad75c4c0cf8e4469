/** `show`: a program as numbered equations. */
import { showAval } from './aval.js'
import { programsOf } from './expand.js'
import { CONST, capturedTensor, INPUT, type InputInfo, inputName, type Linear, linearize, type Node, OUTPUT, resultAvals } from './expr.js'
import { printedName } from './namespace.js'
import { liftTree, type Program } from './program.js'
import { LEAF, leafPaths, type TreeDef } from './tree.js'

/** Names of all nodes of a linear order, and the equation of each application. */
const written = (
  { nodes, index }: Linear,
  nameOfInput: (n: Node) => string | undefined,
): { readonly names: readonly string[]; readonly equations: ReadonlyMap<number, string> } => {
  const names: string[] = new Array<string>(nodes.length)
  const equations = new Map<number, string>()
  let temp = 0
  let captured = 0
  const outs = new Map<number, string[]>()
  nodes.forEach((n, i) => {
    if (n.kind === INPUT) names[i] = nameOfInput(n) ?? ((n.payload as InputInfo).captured ? `captured${captured++}` : 'free')
    else if (n.kind === CONST) names[i] = Object.is(n.payload, -0) ? '-0' : String(n.payload)
    else if (n.kind === OUTPUT) names[i] = outs.get(index.get(n.args[0]!))![n.payload as number]!
    else {
      const avals = resultAvals(n)
      const results = avals.map(() => `y${temp++}`)
      outs.set(i, results)
      names[i] = results[0] ?? 'none'
      const params = n.prim!.showParams?.(n.payload)
      equations.set(
        i,
        `${results.join(', ')} = ${printedName(n.prim!)}(${n.args.map((a) => names[index.get(a)]).join(', ')})${params ? ` {${params}}` : ''} : ${avals.map(showAval).join(', ')}`,
      )
    }
  })
  return { names, equations }
}

/** The equation of one application among those of `outputs`, as `show` prints it. */
export const equationOf = (node: Node, outputs: readonly Node[]): string => {
  const all = linearize(outputs)
  const linear = all.index.has(node) ? all : linearize([node])
  const { names, equations } = written(linear, (n) => {
    const { name } = n.payload as InputInfo
    return name === undefined ? undefined : inputName(name) || 'x0'
  })
  const i = linear.index.get(node)
  return equations.get(i) ?? names[i]!
}

/** A program as text: inputs, one line per equation with the programs in its parameters indented below it, results; lines of the user's code where they were recorded. Deterministic. */
export const showProgram = (p: Program, siteOf?: (n: Node) => string | undefined): string => {
  const linear = linearize(p.outputs)
  const { nodes, index } = linear
  const paths = leafPaths(p.inputTree)
  const given = new Map(p.inputs.map((x, i) => [x, inputName(paths[i] ?? '') || `x${i}`]))
  const { names, equations } = written(linear, (n) => given.get(n))
  const lines = [...equations].flatMap(([i, text]) => {
    const site = siteOf?.(nodes[i]!)
    const bodies = programsOf(nodes[i]!.prim!, nodes[i]!.payload).map((q) => showProgram(q, siteOf).replace(/^/gm, '    '))
    return [`  ${text}${site === undefined ? '' : `   at ${site}`}`, ...bodies]
  })
  const show = (n: Node): string => names[index.get(n)]!
  const head = `${p.name}(${p.inputs.map((x) => `${given.get(x)}: ${showAval(x.aval)}`).join(', ')})`
  const outPaths = leafPaths(p.outputTree)
  return [
    head,
    ...lines,
    `  return ${p.outputs.map((o, i) => (outPaths[i] === '' ? show(o) : `${outPaths[i]}: ${show(o)}`)).join(', ')}`,
  ].join('\n')
}

/** Expressions (a tree of them) as text: what they are made of, from their inputs on, also within a trace. */
export const showExpressions = (tree: unknown, siteOf?: (n: Node) => string | undefined): string => {
  const { nodes: outputs, def: outputTree } = liftTree(tree, 'show')
  const inputs = linearize(outputs).nodes.filter((n) => n.kind === INPUT && capturedTensor(n) === undefined)
  const inputTree: TreeDef = { _tag: 'Tuple', items: inputs.map(() => LEAF) }
  return showProgram({ name: 'expression', inputs, inputTree, outputs, outputTree, captured: [] }, siteOf)
}
