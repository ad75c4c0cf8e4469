/**
 * Calls of public operations as a user writes them in helpers of their own: those of random programs, with the sizes of their operands as literals, names,
 * numbers or type parameters. What runs has to compile, whatever is known of the sizes, and what the compiler says of a result has to be so.
 */
import { inspect } from 'node:util'
import { aval } from '../../../src/core/graph/aval.js'
import type { Node } from '../../../src/core/graph/expr.js'
import { input } from '../../../src/core/graph/expr.js'
import type { NDArray } from '../../../src/core/graph/ndarray.js'
import { generate, type Wanted } from '../../laws/generator/generate.js'
import {
  callOf,
  isFn,
  isRef,
  isRule,
  type Lambda,
  mapTemplate,
  type Param,
  type RandomProgram,
  type Step,
  shipped,
  type Template,
} from '../../laws/generator/program.js'

/** What is known of an operand or a result: its sizes when it was drawn. */
export interface Facts {
  readonly shape: readonly number[]
  readonly dtype: string
}
/** One call with what its operands were. */
export interface Call {
  readonly step: Step
  readonly facts: ReadonlyMap<number, Facts>
}
const factsOf = (x: unknown): Facts => {
  const { shape, dtype } = (x as Node).aval ?? (x as NDArray)
  return { shape, dtype }
}
const bind = (outs: Template, value: unknown, env: Map<number, unknown>): void => {
  if (typeof outs !== 'object' || outs === null) return
  if (isRef(outs)) env.set(outs.ref, value)
  else for (const [k, t] of Object.entries(outs)) bind(t as Template, (value as Record<string, unknown>)[k], env)
}
/** The numbers that a template and functions in it read from outside. */
export const readBy = (t: Template): readonly number[] => {
  const read = new Set<number>()
  const visit = (x: Template, own: ReadonlySet<number>): void => {
    mapTemplate(
      x,
      (r) => {
        if (!own.has(r.ref)) read.add(r.ref)
        return r
      },
      (l) => {
        const inner = new Set(own)
        const add = (o: Template): void => {
          mapTemplate(o, (r) => {
            inner.add(r.ref)
            return r
          })
        }
        const params = (p: Param): void => (typeof p === 'number' ? void inner.add(p) : p.forEach(params))
        l.params.forEach(params)
        for (const s of l.steps) {
          for (const a of [...s.args, ...(s.applied ?? [])]) visit(a, inner)
          add(s.outs)
        }
        visit(l.result, inner)
        return l
      },
    )
  }
  visit(t, new Set())
  return [...read]
}
/** A program as one call of a function that is written out, of its inputs. */
export const wholeOf = (p: RandomProgram): Call => {
  const env = new Map<number, unknown>(p.inputs.map((x) => [x.id, input(aval(x.shape, x.dtype))]))
  for (const s of p.steps) bind(s.outs, callOf(s, env, shipped), env)
  const fn: Lambda = { params: [], steps: p.steps, result: p.outputs }
  const step: Step = { op: 'program', args: [{ fn }], outs: p.outputs.map((o) => (isRef(o) ? o : null)) }
  const used = [...readBy([{ fn }]), ...readBy(step.outs)]
  return { step, facts: new Map(used.map((id) => [id, factsOf(env.get(id))])) }
}
/** The calls of a random program, those of functions inside it left there. */
export const callsOf = (p: RandomProgram): readonly Call[] => {
  const env = new Map<number, unknown>(p.inputs.map((x) => [x.id, input(aval(x.shape, x.dtype))]))
  return p.steps.map((step) => {
    bind(step.outs, callOf(step, env, shipped), env)
    const used = [...readBy([...step.args, ...(step.applied ?? [])]), ...readBy(step.outs)]
    return { step, facts: new Map(used.map((id) => [id, factsOf(env.get(id))])) }
  })
}

/** What is known of sizes where a helper is written. */
export interface Knowledge {
  readonly name: string
  /** What a size is that is not told: a name, a type parameter, a number. */
  readonly by: 'literal' | 'number' | 'name' | 'number parameter' | 'Dim parameter' | 'mixed'
  /** Whether only sizes that lead an operand are not told; the others are literals. */
  readonly leading?: true
  readonly of?: 'Expr' | 'Tensor'
  readonly anyRank?: true
  /** One operand of which something else is known: its sizes were computed, its rank is not known, or it is a nested array. */
  readonly but?: { readonly at: number; readonly is: 'computed' | 'of any rank' | 'an array' }
}
const buts = (by: Knowledge['by'], is: 'computed' | 'of any rank' | 'an array'): readonly Knowledge[] =>
  [0, 1].map((at) => ({ name: `${by}s but operand ${at} ${is}`, by, but: { at, is } }))
export const KNOWLEDGE: readonly Knowledge[] = [
  { name: 'literals', by: 'literal' },
  { name: 'numbers', by: 'number' },
  { name: 'leading number', by: 'number', leading: true },
  { name: 'names', by: 'name' },
  { name: 'leading name', by: 'name', leading: true },
  { name: 'parameters', by: 'number parameter' },
  { name: 'leading parameter', by: 'number parameter', leading: true },
  { name: 'dims', by: 'Dim parameter' },
  { name: 'mixed', by: 'mixed' },
  { name: 'operands', by: 'number parameter', of: 'Expr' },
  { name: 'tensors', by: 'literal', of: 'Tensor' },
  { name: 'any rank', by: 'literal', anyRank: true },
  ...buts('number parameter', 'computed'),
  ...buts('number parameter', 'of any rank'),
  ...buts('number parameter', 'an array'),
  ...buts('name', 'computed'),
  ...buts('literal', 'computed'),
  ...buts('literal', 'of any rank'),
  ...buts('literal', 'an array'),
]
/** Whether a call has what the knowledge is about. */
export const suits = (c: Call, k: Knowledge): boolean => {
  if (k.but === undefined) return true
  const read = readBy([...c.step.args, ...(c.step.applied ?? [])])
  if (k.but.at >= read.length) return false
  const { shape, dtype } = c.facts.get(read[k.but.at]!)!
  return k.but.is === 'an array'
    ? dtype === 'f64' && shape.length > 0 && !/^(assertShape)$/.test(c.step.op)
    : k.but.is === 'of any rank' || shape.some((n) => n > 1)
}

/** Operations that take sizes, and at which arguments. */
const SIZES: Readonly<Record<string, readonly number[]>> = {
  zeros: [0],
  ones: [0],
  full: [0],
  broadcastTo: [1],
  eye: [0],
  oneHot: [1],
  reshape: [1],
  segmentSum: [2],
  segmentMax: [2],
  segmentMin: [2],
  segmentProd: [2],
  segmentMean: [2],
  segmentSoftmax: [2],
}
/** Numbers inside of lists of a template that is no shape: so long, or so many in all, something has to be. */
const fixedBy = (t: Template, into: Set<number>): void => {
  if (typeof t !== 'object' || t === null || isRef(t)) return
  if (Array.isArray(t) && t.every((x) => typeof x === 'number')) {
    into.add(t.length).add((t as readonly number[]).reduce((a, b) => a + b, 0))
  } else if (Array.isArray(t)) into.add(t.length)
  for (const x of Object.values(t)) fixedBy(x as Template, into)
}
const numbersIn = (t: Template): readonly number[] =>
  typeof t === 'number' ? [t] : Array.isArray(t) ? t.flatMap((x) => numbersIn(x as Template)) : []
/** Every step of a call, those inside of its functions too. */
const stepsOf = (s: Step): readonly Step[] => {
  const out: Step[] = [s]
  const visit = (t: Template): void => {
    mapTemplate(
      t,
      (r) => r,
      (l) => {
        for (const inner of l.steps) out.push(...stepsOf(inner))
        visit(l.result)
        return l
      },
    )
  }
  for (const a of [...s.args, ...(s.applied ?? [])]) visit(a)
  return out
}
/** How the sizes of a call's operands are written. */
interface Sizes {
  readonly type: (n: number) => string
  /** The sizes that are not told. */
  readonly open: ReadonlySet<number>
}
const sizesOf = (c: Call, read: readonly number[], k: Knowledge): Sizes => {
  const shapes = read.map((id) => c.facts.get(id)!.shape)
  const fixed = new Set<number>()
  for (const s of stepsOf(c.step)) for (const [i, a] of s.args.entries()) if (SIZES[s.op]?.includes(i) !== true) fixedBy(a, fixed)
  const open = new Set<number>()
  // So many elements, or a part from here to there: of a size that has a name that is an error, and right.
  const counted =
    k.by === 'name' &&
    stepsOf(c.step).some(
      (s) =>
        s.op === 'reshape' ||
        /\d:|:-?\d/.test(JSON.stringify(s.args.map((a) => (typeof a === 'object' && a !== null && 'fn' in a ? null : a)))),
    )
  if (k.by !== 'literal' && !counted)
    for (const n of k.leading === true ? shapes.map((x) => x[0] ?? 1) : shapes.flat()) if (n > 1 && !fixed.has(n)) open.add(n)
  const by = {
    literal: String,
    number: () => 'number',
    name: (n: number) => `'n${n}'`,
    'number parameter': (n: number) => `N${n}`,
    'Dim parameter': (n: number) => `N${n}`,
    mixed: (n: number) => (n % 3 === 0 ? 'number' : `N${n}`),
  }[k.by]
  return { open, type: (n) => (open.has(n) ? by(n) : String(n)) }
}
/** Whether a size that is a parameter is one that extends number. */
const isNumber = (k: Knowledge, n: number): boolean => k.by === 'number parameter' || (k.by === 'mixed' && n % 3 === 1)
/** The declared type of an operand. */
const typeOf = (f: Facts, k: Knowledge, size: (n: number) => string, at?: number): string =>
  k.but?.at === at && k.but !== undefined
    ? k.but.is === 'an array'
      ? f.shape.reduce((x) => `readonly (${x})[]`, 'number')
      : k.but.is === 'computed'
        ? `cd.Expr<[${f.shape.map((n) => (n > 1 ? 'number' : n)).join(', ')}], '${f.dtype}'>`
        : `cd.Expr<cd.Shape, '${f.dtype}'>`
    : k.anyRank === true
      ? `cd.Expr<cd.Shape, '${f.dtype}'>`
      : `cd.${k.of ?? 'Expr'}<[${f.shape.map((n) => size(n)).join(', ')}], '${f.dtype}'>`

const literal = (t: Template): string => inspect(t, { depth: Infinity, maxArrayLength: Infinity, breakLength: Infinity })
interface Writing {
  readonly sizes: Sizes
  /** Sizes that are told by a value, and the value's name. */
  readonly told: ReadonlyMap<number, string>
  readonly facts: ReadonlyMap<number, Facts>
}
const text = (t: Template, w: Writing, size = false): string => {
  if (typeof t === 'number' && size && w.told.has(t)) return w.told.get(t)!
  if (typeof t !== 'object' || t === null) return literal(t)
  if (isRef(t)) return `v${t.ref}`
  if (isFn(t)) return lambda(t.fn, w)
  if (isRule(t)) return 'ruleOf()'
  if (Array.isArray(t)) return `[${t.map((x) => text(x, w, size)).join(', ')}]`
  return `{ ${Object.entries(t)
    .map(([k, x]) => `${k}: ${text(x as Template, w)}`)
    .join(', ')} }`
}
const param = (p: Param): string => (typeof p === 'number' ? `v${p}` : `[${p.map(param).join(', ')}]`)
const pattern = (t: Template): string => {
  if (typeof t !== 'object' || t === null) return ''
  if (isRef(t)) return `v${t.ref}`
  if (Array.isArray(t)) return `[${t.map(pattern).join(', ')}]`
  return `{ ${Object.entries(t)
    .map(([k, x]) => `${k}: ${pattern(x as Template)}`)
    .join(', ')} }`
}
const lambda = (l: Lambda, w: Writing): string => {
  const result = text(l.result, w)
  const head = `(${l.params.map(param).join(', ')}) =>`
  if (l.steps.length === 0) return `${head} ${result.startsWith('{') ? `(${result})` : result}`
  return `${head} { ${l.steps.map((s) => `const ${pattern(s.outs)} = ${callText(s, w)}`).join('; ')}; return ${result} }`
}
/** Operations of the generator's own, as they are written. */
const COMPOUNDS: Readonly<Record<string, (given: readonly Template[], args: readonly string[], w: Writing) => string>> = {
  program: (_, [f]) => `(${f})()`,
  linearizeAt: (_, [f, x, dx]) => `cd.linearize(${f})(${x})[1](${dx})`,
  shown: (_, [x]) => `cd.tap(${x}, () => undefined)`,
  shownBack: (_, [x]) => `cd.tapGradient(${x}, () => undefined)`,
  declared: ([, x], [f, given], w) => {
    const facts = w.facts.get((x as { readonly ref: number }).ref)
    // Inside of a function its sizes are not known here.
    if (facts === undefined) return `(${f})(${given})`
    const sizes = facts.shape.map((n) => (w.sizes.open.has(n) ? `'n${n}'` : n))
    return `cd.fn({ x: cd.${facts.dtype}(${sizes.join(', ')}) }, ({ x }) => (${f})(x))({ x: ${given} })`
  },
  whilePair: ([more, body], [, , n, c, maxSteps], w) => {
    const paired = (f: Template): string => {
      const { fn } = f as { readonly fn: Lambda }
      return lambda({ ...fn, params: [fn.params] }, w)
    }
    return `cd.whileLoop(${paired(more!)}, ${paired(body!)}, [${n}, ${c}], { maxSteps: ${maxSteps} })`
  },
}
const callText = (s: Step, w: Writing): string => {
  const sizes = SIZES[s.op] ?? []
  const args = s.args.map((a, i) => text(a, w, sizes.includes(i)))
  const own = COMPOUNDS[s.op]
  if (own !== undefined) return own(s.args, args, w)
  return `cd.${s.op}(${args.join(', ')})${s.applied === undefined ? '' : `(${s.applied.map((a) => text(a, w)).join(', ')})`}`
}
/** The type of a tree of results as they were. */
const resultType = (t: Template, facts: ReadonlyMap<number, Facts>, sizes?: Sizes): string => {
  if (typeof t !== 'object' || t === null) return 'any'
  if (isRef(t))
    return `Real<[${facts
      .get(t.ref)!
      .shape.map((n) => sizes?.type(n) ?? n)
      .join(', ')}]>`
  if (Array.isArray(t)) return `[${t.map((x) => resultType(x, facts, sizes)).join(', ')}]`
  return `{ ${Object.entries(t)
    .map(([k, x]) => `${k}: ${resultType(x as Template, facts, sizes)}`)
    .join('; ')} }`
}

export const HEAD = [
  "import * as cd from '../../../../src/index.js'",
  '/** What a result was. */',
  'type Real<S extends cd.Shape> = cd.Expr<S, any>',
  'declare const given: <T>() => T',
  '/** Derivative rules of a function. */',
  'declare const ruleOf: () => any',
  '',
].join('\n')
/** The call as a helper, and what its result was held against what the compiler says of it. */
export const written = (c: Call, k: Knowledge, at: number, declared = false): string => {
  const read = readBy([...c.step.args, ...(c.step.applied ?? [])])
  const sizes = sizesOf(c, read, k)
  const asked = new Set<number>()
  for (const s of stepsOf(c.step))
    for (const i of SIZES[s.op] ?? []) for (const n of numbersIn(s.args[i])) if (sizes.open.has(n)) asked.add(n)
  const told = new Map([...asked].map((n) => [n, `n${n}`]))
  const params = [
    ...read.map((id, i) => `v${id}: ${typeOf(c.facts.get(id)!, k, sizes.type, i)}`),
    ...[...told].map(([n, name]) => `${name}: ${isNumber(k, n) ? sizes.type(n) : 'number'}`),
  ]
  const used = /parameter|mixed/.test(k.by)
    ? [...sizes.open].sort((a, b) => a - b).filter((n) => params.some((p) => new RegExp(`\\bN${n}\\b`).test(p)))
    : []
  const generics = used.length === 0 ? '' : `<${used.map((n) => `N${n} extends ${isNumber(k, n) ? 'number' : 'cd.Dim'}`).join(', ')}>`
  const body = callText(c.step, { sizes, told, facts: c.facts })
  const result = declared ? `: ${resultType(c.step.outs, c.facts, sizes)}` : ''
  const lines = [`export const f${at} = ${generics}(${params.join(', ')})${result} => ${body.startsWith('{') ? `(${body})` : body}`]
  if (k.by !== 'name' && k.of !== 'Tensor' && k.but?.is !== 'an array') {
    const values = [...read.map((id, i) => `given<${typeOf(c.facts.get(id)!, k, String, i)}>()`), ...[...told.keys()].map(String)]
    lines.push(
      `const r${at} = f${at}(${values.join(', ')})`,
      `export const s${at}: typeof r${at} = given<${resultType(c.step.outs, c.facts)}>()`,
    )
  }
  return lines.join('\n')
}
/** What makes a call another one: the operation, the ranks and ones of its operands, its options without their numbers. */
export const formOf = (c: Call): string => {
  const shapes = readBy([...c.step.args, ...(c.step.applied ?? [])]).map((id) => {
    const { shape, dtype } = c.facts.get(id)!
    return `${dtype}[${shape.map((n) => (n > 1 ? 'n' : n)).join()}]`
  })
  const form = JSON.stringify([c.step.args, c.step.applied ?? null], (k, x) => (typeof x === 'number' && k !== 'axis' ? 'n' : x))
  return `${c.step.op} ${shapes.join(' ')} ${form.length > 300 ? form.length : form}`
}
/** Calls of programs from a seed on, a few of each operation, each of another form. */
export const drawnCalls = (from: number, programs: number, each: number, kind: Wanted = 'all'): readonly Call[] => {
  const seen = new Set<string>()
  const counts = new Map<string, number>()
  const out: Call[] = []
  for (let seed = from; seed < from + programs; seed++) {
    for (const c of callsOf(generate(seed, kind).program)) {
      const form = formOf(c)
      const n = counts.get(c.step.op) ?? 0
      if (n >= each || seen.has(form)) continue
      seen.add(form)
      counts.set(c.step.op, n + 1)
      out.push(c)
    }
  }
  return out.sort((a, b) => (a.step.op < b.step.op ? -1 : a.step.op > b.step.op ? 1 : 0))
}
