/** What loops a random program has, by name: how carries are handed on, what reads rows and when, what is accumulated in place, and what stands around. */
import {
  COMPOUND,
  isFn,
  isRef,
  isRule,
  type Lambda,
  numbersOf,
  type Param,
  type RandomProgram,
  refsOf,
  type Step,
  type Template,
} from './program.js'

/** Every shape that random programs of loops must have. */
export const LOOP_SHAPES = [
  'carry: stands still',
  'carry: swaps with another',
  'carry: goes round with others',
  'carry: two are given one value',
  'carry: read after it is replaced',
  'carry: its last value is read by no one',
  'carry: a later loop drops it',
  'begins with: a literal',
  'begins with: a captured tensor',
  'begins with: an input',
  'begins with: a view',
  'begins with: a part of a concat',
  'begins with: the same value twice',
  'begins with: what is read elsewhere too',
  'rows: read by no one',
  'rows: read by dead code alone',
  'rows: read in part',
  'rows: read from the back',
  'rows: read late',
  'rows: slices of another loop',
  'rows: the carry as it was found',
  'rows: the carry as it was left',
  'rows: also the last carry',
  'in place: addAt',
  'in place: set',
  'in place: mulAt',
  'in place: setAt',
  'in place: scatterAdd',
  'in place: dynamicUpdateSlice',
  'in place: matmulAdd',
  'in place: a carry',
  'in place: the old value is read before',
  'in place: the old value is read after',
  'in place: the new value is read twice',
  'inside: a loop in a loop',
  'inside: a loop in a branch',
  'inside: a loop in a branch in a loop',
  'inside: a branch in a loop',
  'inside: a loop in a checkpoint',
  'inside: a derivative in a loop',
  'under: vmap',
  'under: vmap over an inner axis',
  'under: vmap, with captured values',
  'under: vmap in a loop',
  'under: one derivative',
  'under: two derivatives',
  'how: from the last slice to the first',
  'how: no steps',
  'how: one step',
  'how: unrolled',
  'how: a count that is computed',
  'how: a while loop',
  'how: ended by its condition alone',
  'how: kept as a policy says',
  'how: kept in segments',
  'how: kept in snapshots',
  'reductions: where',
  'reductions: initial',
] as const
export type LoopShape = (typeof LOOP_SHAPES)[number]

const LOOPS = new Set(['scan', 'fori', 'whileLoop', 'whilePair'])
const BRANCHES = new Set(['cond', 'switchCase'])
const ONCE = new Set(['grad', 'valueAndGrad', 'jvp', 'vjp', 'linearizeAt', 'jacfwd', 'jacrev'])
const TWICE = new Set(['hvp', 'hessian'])
const IN_PLACE = new Set(['addAt', 'set', 'mulAt', 'setAt', 'scatterAdd', 'dynamicUpdateSlice', 'matmulAdd'])
const VIEWS = new Set(['flip', 'at', 'slice', 'transpose', 'reshape', 'broadcastTo', 'roll'])

/** The parts of a loop's call: what it begins with, its step, what comes of it. A carry that is one value is a list of it. */
interface Parts {
  readonly inits: readonly Template[]
  readonly body: Lambda
  readonly params: readonly number[]
  readonly next: readonly Template[]
  readonly last: readonly Template[]
  readonly rows: readonly Template[]
  readonly stacked: readonly Template[]
  readonly xs: Template
}
const listOf = (t: Template, alone: boolean): readonly Template[] => (alone ? [t] : ((t ?? []) as readonly Template[]))
const rowList = (t: Template): readonly Template[] => (t === null || t === undefined ? [] : Array.isArray(t) ? t : [t])
const lambdaOf = (t: Template): Lambda => (t as { readonly fn: Lambda }).fn
/** The parts of a loop whose carry is a value, or a list of values. */
export const partsOf = ({ op, args, outs }: Step): Parts | undefined => {
  if (!LOOPS.has(op) || op === 'whilePair') return undefined
  const body = lambdaOf(args[op === 'scan' ? 0 : 1]!)
  const carry = body.params[op === 'fori' ? 1 : 0] as Param
  const alone = typeof carry === 'number'
  const result = body.result as readonly Template[]
  const given = op === 'scan' ? args[1]! : args[2]!
  return {
    inits: listOf(given, alone),
    body,
    params: numbersOf([carry]),
    next: listOf(op === 'scan' ? result[0]! : body.result, alone),
    last: listOf(op === 'fori' ? outs : (outs as readonly Template[])[0]!, alone),
    rows: op === 'scan' ? rowList(result[1]) : [],
    stacked: op === 'scan' ? rowList((outs as readonly Template[])[1]) : [],
    xs: op === 'scan' ? args[2]! : null,
  }
}

/** Who makes and who reads each value, where, and whether anything comes of it. */
interface Flow {
  readonly makers: Map<number, Step>
  readonly readers: Map<number, { readonly step: Step; readonly at: number }[]>
  readonly live: Set<number>
}
const argsOf = (s: Step): readonly Template[] => [...s.args, ...(s.applied ?? [])]
const flowOf = (steps: readonly Step[], results: Template): Flow => {
  const flow: Flow = { makers: new Map(), readers: new Map(), live: new Set(refsOf(results)) }
  steps.forEach((step, at) => {
    for (const id of refsOf(step.outs)) flow.makers.set(id, step)
    for (const id of new Set(refsOf(argsOf(step)))) flow.readers.set(id, [...(flow.readers.get(id) ?? []), { step, at }])
  })
  for (const s of [...steps].reverse())
    if (refsOf(s.outs).some((id) => flow.live.has(id))) for (const id of refsOf(argsOf(s))) flow.live.add(id)
  return flow
}
const refOf = (t: Template | undefined): number => (t !== undefined && isRef(t) ? t.ref : -1)

/** The names of what there is, of one program. */
class Shapes {
  readonly found = new Set<LoopShape>()
  constructor(private readonly program: RandomProgram) {}
  private say(name: LoopShape, when = true): void {
    if (when) this.found.add(name)
  }

  steps(steps: readonly Step[], results: Template, around: readonly Step[], own: ReadonlySet<number> | undefined): void {
    const flow = flowOf(steps, results)
    const inLoop = around.some((s) => LOOPS.has(s.op))
    steps.forEach((s, at) => {
      const parts = partsOf(s)
      if (LOOPS.has(s.op)) this.around(around)
      if (parts !== undefined) {
        this.carries(parts, flow, at)
        this.begins(parts, flow, s)
        this.rows(parts, flow, at)
        this.how(s)
      }
      if (BRANCHES.has(s.op)) this.say('inside: a branch in a loop', inLoop)
      if (s.op === 'vmap') this.say('under: vmap in a loop', inLoop)
      if (ONCE.has(s.op) || TWICE.has(s.op)) this.say('inside: a derivative in a loop', inLoop)
      if (inLoop && IN_PLACE.has(s.op)) this.inPlace(s, at, flow, results, own)
      this.options(s)
      for (const a of argsOf(s)) this.inside(a, [...around, s])
    })
  }
  /** The functions in an argument. */
  private inside(t: Template, around: readonly Step[]): void {
    if (typeof t !== 'object' || t === null || isRef(t)) return
    const l = isFn(t) ? t.fn : isRule(t) ? t.of : undefined
    if (l !== undefined) this.steps(l.steps, l.result, around, new Set(numbersOf(l.params)))
    else for (const x of Object.values(t)) this.inside(x as Template, around)
  }

  private carries({ params, next, last, body }: Parts, { readers, live }: Flow, at: number): void {
    const to = next.map((t) => params.indexOf(refOf(t)))
    params.forEach((p, i) => {
      const out = refOf(last[i])
      const readAfter = (readers.get(out) ?? []).filter((r) => r.at > at)
      this.say('carry: stands still', to[i] === i)
      this.say('carry: swaps with another', to[i]! >= 0 && to[i] !== i && to[to[i]!] === i)
      this.say('carry: goes round with others', to[i]! >= 0 && to[i] !== i && to[to[i]!] !== i)
      this.say('carry: its last value is read by no one', readAfter.length === 0 && !live.has(out))
      const dropped = readAfter.filter((r) => partsOf(r.step) !== undefined && this.drops(partsOf(r.step)!, out, live))
      this.say('carry: a later loop drops it', dropped.length > 0)
      const made = body.steps.findIndex((s) => refsOf(s.outs).includes(refOf(next[i])))
      this.say('carry: read after it is replaced', made >= 0 && body.steps.some((s, k) => k > made && refsOf(argsOf(s)).includes(p)))
    })
    const refs = next.map(refOf).filter((r) => r >= 0)
    this.say('carry: two are given one value', new Set(refs).size < refs.length)
  }
  /** Does a loop carry a value that begins with `id`, of which nothing comes? */
  private drops({ inits, params, next, rows, last, body }: Parts, id: number, live: ReadonlySet<number>): boolean {
    return inits.some((t, i) => {
      if (refOf(t) !== id || live.has(refOf(last[i]))) return false
      const others = next.filter((_, k) => k !== i)
      return !body.steps.some((s) => refsOf(argsOf(s)).includes(params[i]!)) && !refsOf([...others, ...rows]).includes(params[i]!)
    })
  }
  private begins({ inits }: Parts, { makers, readers, live }: Flow, own: Step): void {
    inits.forEach((t, i) => {
      const id = refOf(t)
      this.say('begins with: a literal', !isRef(t))
      const given = this.program.inputs.find((x) => x.id === id)
      this.say('begins with: a captured tensor', given?.captured === true)
      this.say('begins with: an input', given !== undefined && given.captured !== true)
      const maker = makers.get(id)
      this.say('begins with: a view', maker !== undefined && VIEWS.has(maker.op))
      const of = maker?.op === 'slice' ? makers.get(refOf(maker.args[0])) : undefined
      this.say('begins with: a part of a concat', of?.op === 'concat')
      this.say('begins with: the same value twice', id >= 0 && inits.findIndex((u) => refOf(u) === id) < i)
      const others = (readers.get(id) ?? []).filter((r) => r.step !== own)
      this.say('begins with: what is read elsewhere too', id >= 0 && others.some((r) => refsOf(r.step.outs).some((o) => live.has(o))))
    })
  }
  private rows({ rows, stacked, params, next, last }: Parts, { readers, live }: Flow, at: number): void {
    rows.forEach((row, j) => {
      const [id, of] = [refOf(stacked[j]), refOf(row)]
      const readAt = (readers.get(id) ?? []).filter((r) => r.at > at)
      this.say('rows: read by no one', readAt.length === 0 && !live.has(id))
      this.say('rows: read by dead code alone', readAt.length > 0 && !live.has(id))
      this.say(
        'rows: read late',
        readAt.some((r) => r.at > at + 1),
      )
      for (const { step } of readAt) {
        const first = step.args[1]
        const text = step.op === 'at' && typeof first === 'string' ? first : ''
        this.say('rows: read from the back', (step.op === 'flip' && refOf(step.args[0]) === id) || text === '::-1')
        this.say('rows: read in part', refOf(step.args[0]) === id && (step.op === 'slice' || (step.op === 'at' && text !== '::-1')))
        this.say('rows: slices of another loop', refsOf(partsOf(step)?.xs ?? null).includes(id))
      }
      this.say('rows: the carry as it was found', params.includes(of))
      const left = next.findIndex((t) => refOf(t) === of)
      this.say('rows: the carry as it was left', left >= 0 && !params.includes(of))
      this.say('rows: also the last carry', left >= 0 && live.has(id) && live.has(refOf(last[left])))
    })
  }
  private inPlace(s: Step, at: number, { readers }: Flow, results: Template, own: ReadonlySet<number> | undefined): void {
    this.say(`in place: ${s.op}` as LoopShape)
    const [old, made] = [refOf(s.args[0]), refsOf(s.outs)[0]!]
    const read = readers.get(old) ?? []
    const returned = refsOf(results)
    this.say('in place: a carry', own?.has(old) === true)
    this.say(
      'in place: the old value is read before',
      read.some((r) => r.at < at),
    )
    this.say('in place: the old value is read after', read.some((r) => r.at > at) || returned.includes(old))
    const after = (readers.get(made) ?? []).length + returned.filter((id) => id === made).length
    this.say('in place: the new value is read twice', after > 1)
  }
  private around(around: readonly Step[]): void {
    const ops = around.map((s) => s.op)
    const branch = ops.findLastIndex((op) => BRANCHES.has(op))
    const vmaps = around.filter((s) => s.op === 'vmap')
    const orders = ops.reduce((n, op) => n + (TWICE.has(op) ? 2 : ONCE.has(op) ? 1 : 0), 0)
    this.say(
      'inside: a loop in a loop',
      ops.some((op) => LOOPS.has(op)),
    )
    this.say('inside: a loop in a branch', branch >= 0)
    this.say(
      'inside: a loop in a branch in a loop',
      ops.slice(0, Math.max(0, branch)).some((op) => LOOPS.has(op)),
    )
    this.say('inside: a loop in a checkpoint', ops.includes('checkpoint'))
    this.say('under: vmap', vmaps.length > 0)
    this.say('under: vmap over an inner axis', vmaps.some(overInner))
    this.say('under: vmap, with captured values', vmaps.some(capturing))
    this.say('under: one derivative', orders > 0)
    this.say('under: two derivatives', orders > 1)
  }
  private how({ op, args }: Step): void {
    const options = (args[3] ?? {}) as { readonly [key: string]: Template }
    const { checkpoint } = options
    const count = op === 'fori' ? args[0] : op === 'scan' ? options.length : options.maxSteps
    this.say('how: a while loop', op === 'whileLoop')
    this.say('how: ended by its condition alone', op === 'whileLoop' && count === undefined)
    this.say('how: from the last slice to the first', options.reverse === true)
    this.say('how: no steps', count === 0)
    this.say('how: one step', count === 1)
    this.say('how: unrolled', options.unroll !== undefined)
    this.say('how: a count that is computed', op === 'fori' && typeof count === 'object')
    const policy = typeof checkpoint === 'string' && checkpoint !== 'sqrt'
    this.say('how: kept as a policy says', policy)
    this.say('how: kept in segments', checkpoint === 'sqrt' || typeof checkpoint === 'number')
    this.say('how: kept in snapshots', typeof checkpoint === 'object' && checkpoint !== null)
  }
  private options(s: Step): void {
    const last = s.args[s.args.length - 1]
    if (typeof last !== 'object' || last === null || Array.isArray(last) || s.op in COMPOUND) return
    this.say('reductions: where', 'where' in last)
    this.say('reductions: initial', 'initial' in last)
  }
}
const overInner = (s: Step): boolean => {
  const { inAxes } = (s.args[1] ?? {}) as { readonly inAxes?: readonly (number | null)[] }
  return inAxes?.some((a) => a !== null && a > 0) === true
}
/** Does the function of a step read what is outside of it? */
const capturing = (s: Step): boolean => {
  const l = lambdaOf(s.args[0]!)
  const own = new Set<number>()
  const define = (steps: readonly Step[]): void => {
    for (const x of steps) {
      for (const id of refsOf(x.outs)) own.add(id)
      for (const a of argsOf(x)) lambdasIn(a, defineIn)
    }
  }
  const defineIn = (f: Lambda): void => {
    for (const id of numbersOf(f.params)) own.add(id)
    define(f.steps)
  }
  defineIn(l)
  return refsOf([...l.steps.flatMap(argsOf), l.result]).some((id) => !own.has(id))
}
const lambdasIn = (t: Template, f: (l: Lambda) => void): void => {
  if (typeof t !== 'object' || t === null || isRef(t)) return
  if (isFn(t)) f(t.fn)
  else if (isRule(t)) f(t.of)
  else for (const x of Object.values(t)) lambdasIn(x as Template, f)
}

/** What loops a program has. */
export const loopShapesOf = (p: RandomProgram): ReadonlySet<LoopShape> => {
  const shapes = new Shapes(p)
  shapes.steps(p.steps, p.outputs, [], undefined)
  return shapes.found
}
