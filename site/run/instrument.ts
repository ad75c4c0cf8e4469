/** From the text of a program to a script that tells what each of its statements gave. Lines stay where they are. */
import { typescriptLanguage } from '@codemirror/lang-javascript'
import type { SyntaxNode } from '@lezer/common'
import { transform } from 'sucrase'

/** A statement of the program's top level whose value is told. */
export interface Mark {
  readonly line: number
  readonly from: number
  readonly to: number
  /** The name or pattern that it declares; none for an expression. */
  readonly name?: string
}
export interface Instrumented {
  readonly marks: readonly Mark[]
  /** A classic script that sets `self.program`. */
  readonly script: string
}
/** What is wrong with a text that cannot be run, and where. */
export interface Unreadable {
  readonly message: string
  readonly line: number
}

/** Text in place of `drop` characters, none unless said. */
interface Change {
  readonly at: number
  readonly text: string
  readonly drop?: number
}

/** The children of a node, without comments. */
const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] => {
  const children: SyntaxNode[] = []
  for (let c = node.firstChild; c !== null; c = c.nextSibling) if (!/Comment$/.test(c.name)) children.push(c)
  return children
}

/** A call f(...) becomes `__call(mark, f, [...])`, which keeps f and the arguments, so that the program of f can be shown, and calls it. */
const kept = (mark: number, node: SyntaxNode, text: string): readonly Change[] => {
  let call = node
  // await f(x), -f(x), f(x).y and f(x).y(z) are all about f.
  for (;;) {
    if (call.name === 'AwaitExpression' || call.name === 'UnaryExpression') call = call.lastChild!
    else if (call.name === 'MemberExpression' || (call.name === 'CallExpression' && call.firstChild!.name === 'MemberExpression'))
      call = call.firstChild!
    else break
  }
  const list = call.name === 'CallExpression' ? call.getChild('ArgList') : null
  const callee = call.firstChild
  if (list === null || callee === null || text.slice(callee.to, list.from).trim() !== '') return []
  if (callee.name !== 'VariableName' && callee.name !== 'CallExpression') return []
  return [
    { at: callee.from, text: `__call(${mark}, (` },
    { at: callee.to, text: '), [', drop: list.from + 1 - callee.to },
    { at: list.to - 1, text: '])', drop: 1 },
  ]
}

const inserted = (text: string, changes: readonly Change[]): string => {
  let out = ''
  let from = 0
  const ordered = changes.map((c, i) => ({ ...c, i })).sort((a, b) => a.at - b.at || a.i - b.i)
  for (const { at, text: more, drop = 0 } of ordered) {
    out += text.slice(from, at) + more
    from = at + drop
  }
  return out + text.slice(from)
}

const lineOf = (text: string, at: number): number => {
  let line = 1
  for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/** The names and patterns of a declaration, each with its value. */
const declared = (
  node: SyntaxNode,
  text: string,
): readonly { readonly name: string; readonly isPattern: boolean; readonly value: SyntaxNode }[] => {
  const found: { name: string; isPattern: boolean; value: SyntaxNode }[] = []
  const children = childrenOf(node)
  children.forEach((c, i) => {
    if (c.name !== 'Equals') return
    const before = children.slice(0, i).findLast((n) => n.name !== 'TypeAnnotation')
    const value = children[i + 1]
    if (before !== undefined && value !== undefined)
      found.push({ name: text.slice(before.from, before.to), isPattern: before.name !== 'VariableDefinition', value })
  })
  return found
}

/** The script of a program, or what keeps it from being read. */
export const instrument = (text: string): Instrumented | Unreadable => {
  const marks: Mark[] = []
  const changes: Change[] = []
  const tell = (statement: SyntaxNode, value: SyntaxNode, name?: string, isPattern = false): void => {
    const mark = marks.length
    marks.push({ line: lineOf(text, statement.to), from: statement.from, to: statement.to, ...(name !== undefined && { name }) })
    if (name === undefined || isPattern)
      changes.push({ at: value.from, text: `__tell(${mark}, (` }, ...kept(mark, value, text), { at: value.to, text: '))' })
    // A function keeps the name of what it is assigned to, so its value is told behind the statement.
    else changes.push(...kept(mark, value, text), { at: statement.to, text: `;__tell(${mark}, ${name})` })
  }
  const visit = (statement: SyntaxNode): void => {
    if (statement.name === 'ExportDeclaration') {
      for (const c of childrenOf(statement)) if (c.name === 'VariableDeclaration') visit(c)
    } else if (statement.name === 'ExpressionStatement') {
      const [expression, ...more] = childrenOf(statement).filter((c) => c.name !== ';')
      if (expression !== undefined && more.length === 0 && expression.name !== 'AssignmentExpression') tell(statement, expression)
    } else if (statement.name === 'VariableDeclaration') {
      if (statement.getChild('const') === null) return
      for (const { name, value, isPattern } of declared(statement, text)) tell(statement, value, name, isPattern)
    }
  }
  const tree = typescriptLanguage.parser.parse(text)
  for (let s = tree.topNode.firstChild; s !== null; s = s.nextSibling) visit(s)
  try {
    const { code } = transform(inserted(text, changes), {
      transforms: ['typescript', 'imports'],
      disableESTransforms: true,
      preserveDynamicImport: false,
      production: true,
    })
    return {
      marks,
      script: `self.program = async (require, exports, __tell, __call) => {${code}\n}\n//# sourceURL=https://codual.invalid/program.ts`,
    }
  } catch (e) {
    const [, message, line] = /^(?:Error transforming [^:]*: )?([\s\S]*?) ?\((\d+):\d+\)$/.exec((e as Error).message) ?? []
    return { message: message ?? (e as Error).message, line: Number(line ?? 1) }
  }
}
