/** A random program as TypeScript that runs: what a failure is reported as. */

import { metaOf, traceMeta } from '../../../src/core/functions/function.js'
import { aval, isFloat } from '../../../src/core/graph/aval.js'
import { cotangentsOf } from './checks.js'
import { opsOf } from './draw.js'
import {
  argumentsOf,
  COMPOUND,
  functionOf,
  type Input,
  isFn,
  isRef,
  isRule,
  type Lambda,
  type Param,
  type RandomProgram,
  type Step,
  type Template,
} from './program.js'

const number = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))
type Names = ReadonlyMap<number, string>
const name = (id: number, names: Names): string => names.get(id) ?? `v${id}`

const text = (t: Template, names: Names, indent: string): string => {
  if (t === null || t === undefined || typeof t === 'boolean') return String(t)
  if (typeof t === 'number') return number(t)
  if (typeof t === 'string') return `'${t}'`
  if (isRef(t)) return name(t.ref, names)
  if (isFn(t)) return lambda(t.fn, names, indent)
  if (isRule(t)) return rules(t.rule, lambda(t.of, names, indent), t.of.params.length)
  if (Array.isArray(t)) return `[${t.map((x) => text(x, names, indent)).join(', ')}]`
  const fields = Object.entries(t).map(([k, x]) => `${k}: ${text(x as Template, names, indent)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
const rules = (which: string, f: string, arity: number): string => {
  const frule = `frule: (x: any, dx: any) => jvp(${f} as any)(x, dx) as any`
  const rrule = `rrule: (x: any) => [(${f})(${arity === 1 ? 'x' : '...(x as [any, any])'}), (yBar: any) => (vjp(${f} as any)(x, yBar) as any)[1]] as any`
  return `{ ${which === 'rrule' ? rrule : which === 'frule' ? frule : `${frule}, ${rrule}`} }`
}
const param = (p: Param, names: Names): string => (typeof p === 'number' ? name(p, names) : `[${p.map((x) => param(x, names)).join(', ')}]`)
const lambda = (l: Lambda, names: Names, indent: string): string => {
  const params = `(${l.params.map((p) => `${param(p, names)}: any`).join(', ')})`
  const result = text(l.result, names, `${indent}  `)
  if (l.steps.length === 0) return `${params} => ${result.startsWith('{') ? `(${result})` : result}`
  const inner = `${indent}  `
  return `${params} => {\n${l.steps.map((s) => inner + line(s, names, inner)).join('\n')}\n${inner}return ${result}\n${indent}}`
}
const pattern = (t: Template): string => {
  // Nothing is stacked, or nothing of it is read.
  if (t === null) return ''
  if (isRef(t)) return `v${t.ref}`
  if (Array.isArray(t)) return `[${t.map(pattern).join(', ')}]`
  return `{ ${Object.entries(t as object)
    .map(([k, x]) => `${k}: ${pattern(x as Template)}`)
    .join(', ')} }`
}
const line = (s: Step, names: Names, indent: string): string => {
  const args = s.args.map((a) => text(a, names, indent))
  const call =
    COMPOUND[s.op]?.text(...args) ??
    `${s.op}(${args.join(', ')})${s.applied === undefined ? '' : `(${s.applied.map((a) => text(a, names, indent)).join(', ')})`}`
  return `const ${pattern(s.outs)}: any = ${call}`
}
const nested = (values: readonly number[], shape: readonly number[]): string => {
  if (shape.length < 2 || values.length === 0) return shape.length === 0 ? number(values[0]!) : `[${values.map(number).join(', ')}]`
  const n = values.length / shape[0]!
  return `[${Array.from({ length: shape[0]! }, (_, i) => nested(values.slice(i * n, (i + 1) * n), shape.slice(1))).join(', ')}]`
}
const literal = (x: Input): string => {
  const flat = x.values.length === 0 || x.shape.length > 2
  return flat
    ? `tensor([${x.values.map(number).join(', ')}], [${x.shape.join(', ')}], '${x.dtype}')`
    : `tensor(${nested(x.values, x.shape)}, [${x.shape.join(', ')}], '${x.dtype}')`
}

const BACKENDS = 'for (const b of [reference(), cpu({ verify: true }), cpu({ verify: true, simd: false })])'
/** What a failure's program is run for: its values, its gradients, its second derivatives. */
const purposeOf = (failure: string): 'value' | 'gradient' | 'second' =>
  /^values|^tracing|^JSON|^vmap|^a row/.test(failure)
    ? 'value'
    : /^hvp|grad/.test(failure) && !/^gradient/.test(failure)
      ? 'second'
      : 'gradient'
/** Lines that compute value, gradients and results, as the checks do: the loss is the sum of the float results times cotangents of theirs. */
const gradientLines = (p: RandomProgram, args: string, wrt: readonly number[], second: boolean): readonly string[] => {
  const own = argumentsOf(p)
  const values = traceMeta(
    metaOf(functionOf(p)),
    { _tag: 'Tuple', items: own.map(() => ({ _tag: 'Leaf' as const })) },
    own.map((x) => aval(x.shape, x.dtype)),
  )
  const bars = cotangentsOf(p, values)
  const floats = values.outputs.flatMap((o, k) => (isFloat(o.dtype) ? [{ k, o }] : []))
  const rounded = bars.map((bar, i) => {
    const { shape, dtype } = floats[i]!.o
    return literal({ id: 0, shape, dtype, values: Array.from(bar, (v) => Math.round(v * 1e4) / 1e4) })
  })
  const total = floats.map(({ k }, i) => `sum(mul(ys[${k}], b${i}))`).reduce((a, b) => `add(${a}, ${b})`)
  const given = own.map((_, i) => `x${i}`).join(', ')
  return [
    `const bars: any[] = [${rounded.join(', ')}]`,
    `const loss = (${[...(args === '' ? [] : [args]), ...bars.map((_, i) => `b${i}: any`)].join(', ')}): any => {`,
    `  const ys = f(${given})`,
    `  return [${total}, ys]`,
    '}',
    BACKENDS,
    "  for (const mode of ['mixed', 'reverse', 'forward'] as const)",
    `    console.log(b.name, mode, (compile as any)((valueAndGrad as any)(loss, { wrt: [${wrt.join(', ')}], mode, aux: true }), b)(...xs, ...bars))`,
    ...(second
      ? [
          'const dxs = xs.map((x: any) => tensor(Array.from(x.data, (_, i) => Math.sin(i + 1)), x.shape, x.dtype))',
          `const scalar = (${args}): any => loss(${[given, ...bars.map((_, i) => `bars[${i}]`)].join(', ')})[0]`,
          `${BACKENDS} console.log(b.name, 'hvp', (compile as any)((hvp as any)(scalar${wrt.length === own.length ? '' : `, { wrt: ${wrt.length === 1 ? wrt[0] : `[${wrt.join(', ')}]`} }`}), b)(${own.length === 1 ? 'xs[0], dxs[0]' : 'xs, dxs'}))`,
        ]
      : []),
  ]
}

/** The program with what failed: its values on each backend, or its derivatives. */
export const printProgram = (p: RandomProgram, failure = 'gradient'): string => {
  const own = argumentsOf(p)
  const captured = p.inputs.filter((x) => x.captured === true)
  const names = new Map<number, string>([
    ...own.map((x, i) => [x.id, `x${i}`] as const),
    ...captured.map((x, i) => [x.id, `t${i}`] as const),
  ])
  const wrt = own.flatMap((x, i) => (isFloat(x.dtype) ? [i] : []))
  const purpose = wrt.length === 0 || p.wild === true ? 'value' : purposeOf(failure)
  const used = new Set<string>(['tensor', 'compile', 'reference', 'cpu'])
  opsOf(p.steps, (op) => used.add(op))
  if (JSON.stringify(p.steps).includes('"rule"')) for (const op of ['jvp', 'vjp']) used.add(op)
  if (purpose !== 'value') for (const op of ['valueAndGrad', 'sum', 'mul', 'add']) used.add(op)
  if (purpose === 'second') used.add('hvp')
  const args = own.map((_, i) => `x${i}: any`).join(', ')
  return [
    `import { ${[...used].sort().join(', ')} } from 'codual'`,
    ...captured.map((x, i) => `const t${i} = ${literal(x)}`),
    `const f = (${args}): any => {`,
    ...p.steps.map((s) => `  ${line(s, names, '  ')}`),
    `  return [${p.outputs.map((o) => text(o, names, '  ')).join(', ')}]`,
    '}',
    `const xs: any[] = [${own.map(literal).join(', ')}]`,
    ...(purpose === 'value'
      ? [`${BACKENDS} console.log(b.name, (compile as any)(f, b)(...xs))`]
      : gradientLines(p, args, wrt, purpose === 'second')),
  ].join('\n')
}
