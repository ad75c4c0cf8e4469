/** Arrow functions as functions, for what Node loads: V8 reads the body of an arrow function twice. */
import ts from 'typescript'

/** Does a body refer to `this`, `super`, `arguments` or `new.target` of what is around it? */
const refersOut = (node: ts.Node): boolean => {
  if (node.kind === ts.SyntaxKind.ThisKeyword || node.kind === ts.SyntaxKind.SuperKeyword || ts.isMetaProperty(node)) return true
  if (ts.isIdentifier(node) && node.text === 'arguments') return true
  // A function has its own; so has a class, but for the names of its members and what it extends.
  if (ts.isFunctionExpression(node) || ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node)) return false
  return ts.forEachChild(node, (child) => refersOut(child) || undefined) === true
}

/** The code with functions in the place of arrow functions, where these do not refer to what only an arrow function sees. */
export const withoutArrows = (path: string, code: string): string => {
  const tree = ts.createSourceFile(path, code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isArrowFunction(node) && !ts.isExpressionStatement(node.parent) && !ts.isExportAssignment(node.parent) && !refersOut(node)) {
      const start = node.getStart(tree)
      const async = node.modifiers !== undefined && node.modifiers.length > 0
      const [first] = node.parameters
      // x => ..., without parentheses
      const bare = first !== undefined && node.parameters.length === 1 && !code.slice(start, first.getStart(tree)).includes('(')
      const arrow = node.equalsGreaterThanToken
      edits.push({
        from: start,
        to: bare ? first.getStart(tree) : code.indexOf('(', start),
        text: `${/[\w$]/.test(code[start - 1] ?? '') ? ' ' : ''}${async ? 'async ' : ''}function${bare ? '(' : ''}`,
      })
      const { body } = node
      if (ts.isBlock(body)) edits.push({ from: arrow.getStart(tree), to: arrow.getEnd(), text: bare ? ')' : '' })
      else {
        // Up to the body: a line that ends behind `return` returns nothing.
        edits.push({ from: arrow.getStart(tree), to: body.getStart(tree), text: `${bare ? ')' : ''}{return ` })
        edits.push({ from: body.getEnd(), to: body.getEnd(), text: '}' })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  // Edits at the same place are of functions in one another: the inner one, which was found later, ends first.
  const sorted = edits.map((e, i) => ({ ...e, i })).sort((a, b) => a.from - b.from || a.to - b.to || b.i - a.i)
  let out = ''
  let at = 0
  for (const { from, to, text } of sorted) {
    out += code.slice(at, from) + text
    at = to
  }
  return out + code.slice(at)
}
