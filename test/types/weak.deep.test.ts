// Types and run time agree on dtypes: every operation, of declared arrays and of what nobody gave a dtype (numbers, plain arrays, constants).

import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as codual from '../../src/index.js'
import { half, whole } from '../depth.js'
import * as operations from '../operations.js'
import { compile } from './harness.js'

const declared = ['x', 'd', 'i', 'b']
// 0 and 1, which go beside booleans too.
const undeclared = ['1', '[1, 0]', 'a.ones([2])', 'a.where(b, 1, 0)']
const names = Object.keys(operations).sort()

/** The dtypes that the compiler gives to expressions; undefined for those that do not compile, or give no single array. */
const typesOf = (expressions: readonly string[]): readonly (string | undefined)[] => {
  const head = `import * as a from './api.js'
declare const x: a.Expr<[2], 'f32'>, d: a.Expr<[2], 'f64'>, i: a.Expr<[2], 'i32'>, b: a.Expr<[2], 'bool'>, s: a.Expr<[], 'f32'>\n`
  const lines = expressions.map((e, k) => `export const k${k} = (${e}).dtype`)
  const { program, file, errors } = compile('weak-dtypes', head + lines.join('\n'))
  const checker = program.getTypeChecker()
  const wrong = new Set(errors.map((e) => file.getLineAndCharacterOfPosition(e.start ?? 0).line - 2))
  return file.statements.slice(2).map((statement, k) => {
    const [name] = ts.isVariableStatement(statement) ? statement.declarationList.declarations : []
    if (wrong.has(k) || name === undefined) return undefined
    const text = checker.typeToString(checker.getTypeAtLocation(name), undefined, ts.TypeFormatFlags.NoTruncation)
    return text === 'any' ? undefined : text.replaceAll('"', '').replace('NoInfer<WeakF64>', 'WeakF64')
  })
}
type Inputs = Readonly<Record<'x' | 'd' | 'i' | 'b' | 's', codual.AnyExpr>>
/** The dtypes that they have when they run: WeakF64 where an f64 is f32 beside an f32. Undefined where shapes or axes do not fit after all. */
const dtypesOf = (expressions: readonly string[]): readonly (string | undefined)[] => {
  const dtypeOf = (expression: string, { x, d, i, b, s }: Inputs): string | undefined => {
    try {
      const make = new Function('a', 'x', 'd', 'i', 'b', `return ${expression}`) as (...of: unknown[]) => codual.AnyExpr
      const y = make(codual, x, d, i, b)
      return y.dtype === 'f64' && codual.add(s, y).dtype === 'f32' ? 'WeakF64' : y.dtype
    } catch (error) {
      if (!codual.isAdException(error)) throw error
      return error.error._tag === 'BadInput' || error.error._tag === 'ShapeMismatch' ? undefined : `raises ${error.message}`
    }
  }
  let found: readonly (string | undefined)[] = []
  const { f32, f64, i32, bool } = codual
  const f = codual.fn({ x: f32(2), d: f64(2), i: i32(2), b: bool(2), s: f32() }, (inputs) => {
    found = expressions.map((e) => dtypeOf(e, inputs))
    return inputs.x
  })
  codual.show(f)
  return found
}
/** Every list of n of these. */
const lists = (of: readonly string[], n: number): string[] =>
  n === 0 ? [''] : of.flatMap((o) => lists(of, n - 1).map((rest) => (rest === '' ? o : `${o}, ${rest}`)))
/** The operations that take lists of arguments such as one of these. */
const taking = (args: readonly string[]): readonly string[] => {
  const probes = names.flatMap((name) => args.map((list) => ({ name, call: `a.${name}(${list})` })))
  const types = typesOf(probes.map(({ call }) => call))
  return [...new Set(probes.filter((_, k) => types[k] !== undefined).map(({ name }) => name))]
}
/** Where types and run time differ; and how many agree. */
const compared = (expressions: readonly string[]): { readonly agree: number; readonly differ: readonly string[] } => {
  const types = typesOf(expressions)
  const dtypes = dtypesOf(expressions)
  const both = expressions.flatMap((e, k) =>
    types[k] === undefined || dtypes[k] === undefined ? [] : [{ e, type: types[k], dtype: dtypes[k] }],
  )
  const differ = both.filter(({ type, dtype }) => type !== dtype)
  return {
    agree: both.length - differ.length,
    differ: differ.map(({ e, type, dtype }) => `${e} is ${type} to the compiler, ${dtype} when it runs`),
  }
}
const hasUndeclared = (list: string): boolean => undeclared.some((u) => list.split(', ').includes(u.split(', ')[0]!))

describe('the dtype of an operation is the same to the compiler and at run time', () => {
  const unary = taking(['x', 'd'])
  it('of one argument', () => {
    expect(unary).toEqual(
      expect.arrayContaining(['sqrt', 'neg', 'sum', 'max', 'mean', 'relu', 'softmax', 'cumsum', 'flip', 'stopGradient']),
    )
    const { agree, differ } = compared(unary.flatMap((f) => [...declared, ...undeclared].map((x) => `a.${f}(${x})`)))
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(500)
  })
  it('of one argument, where its place asks for another dtype', () => {
    const { agree, differ } = compared(
      unary.flatMap((f) => ['x', 'd', 'i'].flatMap((y) => [`a.add(${y}, a.${f}(2))`, `a.where(b, a.${f}([1, 2]), ${y})`])),
    )
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(300)
  })
  it('of two arguments', () => {
    const binary = taking(['x, x', 'd, d'])
    expect(binary).toEqual(
      expect.arrayContaining(['add', 'div', 'pow', 'maximum', 'dot', 'outer', 'linearRecurrence', 'crossEntropy', 'clamp']),
    )
    const { agree, differ } = compared(
      binary.flatMap((f, k) => half(lists([...declared, ...undeclared], 2).filter(hasUndeclared), k).map((list) => `a.${f}(${list})`)),
    )
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(whole ? 1000 : 500)
  })
  it('of two arguments that are declared', () => {
    const binary = taking(['x, x', 'd, d', 'i, i', 'b, b', 'i, 1'])
    expect(binary).toEqual(expect.arrayContaining(['bitwiseAnd', 'leftShift', 'maximum', 'toeplitz', 'searchsorted', 'convolve']))
    const { agree, differ } = compared(binary.flatMap((f, k) => half(lists(declared, 2), k).map((list) => `a.${f}(${list})`)))
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(whole ? 700 : 350)
  })
  it('of booleans and integers beside what else a call takes', () => {
    const calls = ['x', 'd', 'i', 'b'].flatMap((y) => [
      `a.topk(${y}, 1).values`,
      `a.unique(${y}, { size: 2 }).values`,
      `a.max(${y}, { where: b, initial: ${y === 'b'} })`,
      `a.sum(${y}, { initial: 1 })`,
      ...['Sum', 'Prod', 'Max', 'Min', 'Mean'].map((f) => `a.segment${f}(${y}, [0, 1], 2)`),
      `a.bincount([0, 1], { size: 2, weights: ${y} })`,
      `a.histogram(${y}, { bins: 2 }).edges`,
      `a.histogram(x, { bins: 2, weights: ${y} }).counts`,
      `a.bitwiseNot(${y})`,
      `a.diff(${y})`,
      ...declared.flatMap((z) => [
        `a.trapezoid(${y}, { x: ${z} })`,
        `a.cumulativeTrapezoid(${y}, { x: ${z} })`,
        `a.average(${y}, { weights: ${z} })`,
        `a.cov(${y}, { weights: ${z} })`,
        `a.diff(${y}, { prepend: ${z} })`,
        `a.gradient(${y}, { spacing: ${z} })`,
        `a.interp(${y}, ${z}, i)`,
        `a.interp([1, 2], ${z}, ${y})`,
      ]),
      `a.interp(${y}, [0, 1], [1, 2])`,
      `a.trapezoid(${y})`,
      `a.average(${y})`,
      `a.average(${y}, { axis: 0 })`,
      `a.cov(${y})`,
      `a.scaledDotProductAttention(a.reshape(${y}, [1, 2]), a.reshape(d, [1, 2]), a.reshape(i, [1, 2]))`,
      `a.blockDiag(${y}, b)`,
      `a.conv(a.reshape(${y}, [1, 1, 2]), a.reshape(${y}, [1, 1, 2]))`,
      `a.convTranspose(a.reshape(${y}, [1, 1, 2]), a.reshape(i, [1, 1, 2]))`,
      `a.pixelUnshuffle(a.broadcastTo(${y}, [1, 1, 2, 2]), 2)`,
      `a.interp(${y}, i, b)`,
      ...lists(['x', 'i', 'b', '1', 'null'], 2).map((list) => `a.clamp(${y}, ${list})`),
      ...['set', 'maxAt', 'minAt'].map((f) => `a.${f}(${y}, 0, 1)`),
    ])
    const { agree, differ } = compared([...calls, 'a.bitwiseNot([true])', 'a.bitwiseAnd([true], b)', 'a.bitwiseOr([true], 1)'])
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(260)
  })
  it('of three arguments, and of lists', () => {
    const pairs = lists([...declared, ...undeclared], 2).filter(hasUndeclared)
    const calls = pairs.flatMap((list) => [
      `a.where(b, ${list})`,
      `a.fma(${list}, 2)`,
      `a.fma(2, ${list})`,
      `a.clamp(${list}, 2)`,
      `a.clamp(2, ${list})`,
      `a.concat([${list}])`,
      `a.stack([${list}])`,
      `a.einsum('i,i->', ${list})`,
      `a.set(a.ones([2]), 0, a.sum(a.mul(${list})))`,
    ])
    const { agree, differ } = compared(calls)
    expect(differ).toEqual([])
    expect(agree).toBeGreaterThan(200)
  })
})
