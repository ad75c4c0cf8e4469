/** The shader of one loop: who the invocation is, the body at a point, and folds. */
import { sizeOf } from '../../core/graph/shape.js'
import type { DType } from '../../core/types/dtype.js'
import type { Access, Body, BodyOp, LoopKernel } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { type Dispatch, load, register, shader, store, type View } from './dispatch.js'
import { elementwiseKernels } from './elementwise.js'
import type { Machine } from './kernel.js'
import { LoopRecord, partial, ZEROS } from './loop-record.js'
import { collect } from './sums.js'
import type { WgslDType } from './wgsl/literal.js'

/**
 * How invocations share a loop: one for each point, or for several of them; a patch of points for a workgroup, along the last axis and the
 * axis along which an operand is contiguous; of a fold one for each result, a workgroup for each, or several of either in two passes.
 */
export type Mode =
  | { readonly kind: 'map'; readonly points: number }
  | { readonly kind: 'patch'; readonly axis: number }
  | { readonly kind: 'thread' }
  | { readonly kind: 'group'; readonly lanes: number; readonly parts: number }
  | { readonly kind: 'parts'; readonly parts: number }

/** Stretches of a fold's terms. */
const partsOf = (mode: Mode): number => (mode.kind === 'parts' || mode.kind === 'group' ? mode.parts : 1)

/** The sum of names, by halves. */
const pairwise = (names: readonly string[]): string => {
  if (names.length === 1) return names[0]!
  const half = names.length / 2
  return `(${pairwise(names.slice(0, half))} + ${pairwise(names.slice(half))})`
}

/** What folds two values into one. */
const folds = { sum: 'add', prod: 'mul', max: 'maximum', min: 'minimum' } as const

/** Invocations in a workgroup, and in one of a software adapter where there are few: each of its cores takes a workgroup. */
const WIDTH = 64
const NARROW = 16
/** Points of a patch along each of its axes: what they read and write of a line of memory is a whole part of it. */
const PATCH = 16
/** Terms that a turn of a fold's loop takes, where their text is no longer than this and calls nothing: on few cores, and on many, whose memory is far away. */
const UNROLL = { few: 4, many: 8 }
const SHORT = 400
/**
 * Turns of the loop after which f32 sums (one for each term of a turn) go to the total, which keeps what additions round off: the error of
 * a sum is that of so many additions, whatever the number of terms.
 */
const TURNS = 16

/** x / d for x up to 2^23, without the division of integers, which is slow wherever it is not emulated by just this; f32's may be off by 2.5 units. */
const QUOTIENT = `fn quotient(x: u32, d: u32) -> u32 {
  let q = u32(f32(x) / f32(d));
  let r = i32(x - q * d);
  return select(select(q, q + 1u, r >= i32(d)), q - 1u, r < 0);
}
`

/** Arithmetic that drivers rewrite across operations: (x + y) - y becomes x, 1 / (1 / x) becomes x, x + -x becomes 0, whatever x is. */
const ALGEBRA: ReadonlySet<string> = new Set(['add', 'sub', 'neg', 'mul', 'div', 'reciprocal', 'sqrt', 'square'])
const isAlgebra = (o: BodyOp): boolean => o.dtype === 'f32' && ALGEBRA.has(o.prim.name)
/** Which results go through a word that is 0, so that no driver knows what they are: those of arithmetic that arithmetic reads. */
const opaqueOps = (body: Body): readonly boolean[] => {
  const n = body.inputs.length
  const read = new Uint8Array(body.ops.length)
  for (const o of body.ops) if (isAlgebra(o)) for (const a of o.args) if (a >= n) read[a - n] = 1
  return body.ops.map((o, k) => read[k] === 1 && isAlgebra(o))
}

class LoopShader {
  private readonly inputs: number
  private readonly operands: readonly Operand[]
  private readonly sizes: readonly number[]
  private readonly view: View
  private readonly keptAxes: readonly number[]
  private readonly foldAxes: readonly number[]
  private readonly kept: number
  private readonly terms: number
  private readonly opaque: readonly boolean[]
  private readonly record: LoopRecord
  /** Outputs that are folded. */
  private readonly folded: readonly number[]
  /** Inputs that a fold meets once: their strides along its axes are known to be zero. */
  private readonly held: readonly boolean[]

  constructor(
    private readonly kernel: LoopKernel,
    work: Work,
    private readonly machine: Machine,
    private readonly mode: Mode,
  ) {
    const { body, outputs } = kernel
    const { sizes } = work
    const dtypes: readonly DType[] = [...body.inputs, ...outputs.map((o) => o.dtype)]
    const axes = outputs.find((o) => o.fold !== undefined)?.fold?.axes ?? sizes.map(() => false)
    this.inputs = body.inputs.length
    this.sizes = sizes
    this.operands = [...work.reads, ...work.writes]
    this.view = dtypes.every((d) => d === 'f32') ? 'f32' : 'u32'
    this.keptAxes = sizes.flatMap((_, a) => (axes[a] ? [] : [a]))
    this.foldAxes = sizes.flatMap((_, a) => (axes[a] ? [a] : []))
    this.kept = sizeOf(this.keptAxes.map((a) => sizes[a]!))
    this.terms = sizeOf(this.foldAxes.map((a) => sizes[a]!))
    this.folded = outputs.flatMap((o, j) => (o.fold === undefined ? [] : [j]))
    this.opaque = opaqueOps(body)
    const parts = partsOf(mode)
    const items = mode.kind === 'patch' ? this.kept / (sizes[mode.axis]! * sizes[sizes.length - 1]!) : this.kept * parts
    const counts = { items, terms: this.terms, parts, kept: this.kept }
    this.record = new LoopRecord(counts, kernel, work, this.opaque.includes(true), parts > 1)
    this.held = body.inputs.map(
      (_, k) => this.isLiteral(k) || (this.folded.length > 0 && this.along(k, this.foldAxes, String).length === 0),
    )
  }

  dispatch(): Dispatch {
    const { mode, machine, record } = this
    const points = mode.kind === 'map' ? this.pointsOf(mode.points) : 1
    const invocations =
      mode.kind === 'patch'
        ? this.patches(mode.axis) * PATCH * PATCH
        : Math.ceil(this.kept / points) * partsOf(mode) * (mode.kind === 'group' ? mode.lanes : 1)
    const width =
      mode.kind === 'patch'
        ? PATCH * PATCH
        : mode.kind === 'group'
          ? mode.lanes
          : machine.lanes === 1 && invocations < 8 * WIDTH
            ? NARROW
            : WIDTH
    const one = (): string => this.who(width) + this.zeros() + this.bases() + this.loads(true)
    const body =
      points > 1
        ? this.several(width, points)
        : one() + (this.folded.length === 0 ? `  {\n${this.loads(false)}${this.point(() => '')}  }\n` : this.fold())
    const declared = mode.kind === 'group' ? this.folded.map((j) => this.workgroupArray(j, mode.lanes)) : []
    if (body.includes('quotient(')) declared.push(QUOTIENT)
    return {
      wgsl: shader({
        width,
        words: record.words.length,
        view: this.view,
        body,
        declared: declared.join('\n'),
        subgroups: this.usesSubgroups(),
      }),
      words: record.words,
      groups: Math.ceil(invocations / width),
    }
  }
  private usesSubgroups(): boolean {
    const { outputs } = this.kernel
    return this.mode.kind === 'group' && this.machine.subgroups && outputs.every((o) => o.fold === undefined || o.dtype !== 'bool')
  }

  /** `i`, the number of the result, and with parts `part`. */
  private who(width: number): string {
    const { kernel, mode, record } = this
    const items = record.count('items')
    if (mode.kind === 'group')
      return `  if (g >= ${items}) { return; }\n${mode.parts > 1 ? `  let i = g / ${record.count('parts')}; let part = g % ${record.count('parts')};\n` : '  let i = g;\n'}`
    if (mode.kind === 'patch') {
      const last = kernel.rank - 1
      const [down, across] = [record.size(mode.axis), record.size(last)]
      return `  let across = (${across} + ${PATCH - 1}u) / ${PATCH}u; let down = (${down} + ${PATCH - 1}u) / ${PATCH}u;
  let x${last} = (g % across) * ${PATCH}u + l % ${PATCH}u; let g1 = g / across;
  let x${mode.axis} = (g1 % down) * ${PATCH}u + l / ${PATCH}u; let i = g1 / down;
  if (i >= ${items} || x${last} >= ${across} || x${mode.axis} >= ${down}) { return; }\n`
    }
    const text = `  let t = g * ${width}u + l;\n  if (t >= ${items}) { return; }\n`
    if (mode.kind !== 'parts') return `${text}  let i = t;\n`
    // Neighbouring invocations take neighbouring elements: of the folded axes where the innermost is one of them.
    const [parts, kept] = [record.count('parts'), record.count('kept')]
    return this.foldAxes.includes(kernel.rank - 1)
      ? `${text}  let i = t / ${parts}; let part = t % ${parts};\n`
      : `${text}  let i = t % ${kept}; let part = t / ${kept};\n`
  }
  /** Patches of all points. */
  private patches(axis: number): number {
    const { sizes } = this
    const of = (a: number): number => Math.ceil(sizes[a]! / PATCH) / sizes[a]!
    return Math.round(this.kept * of(axis) * of(sizes.length - 1))
  }
  /** Words that are 0, which hide results of arithmetic. */
  private zeros(): string {
    let s = ''
    if (this.opaque.includes(true)) for (let z = 0; z < ZEROS; z++) s += `  let z${z} = ${this.record.zero(z)};\n`
    return s
  }
  /** As many points for an invocation as the body is short. */
  private pointsOf(points: number): number {
    const text = this.point(() => '')
    return text.length <= points * SHORT && text.split('cd_').length <= 2 * points ? points : 1
  }
  /** Several points, a workgroup apart: all are read before the first is computed, so that memory has much to do at once. */
  private several(width: number, points: number): string {
    const { inputs, kernel } = this
    const dtypes = [...kernel.body.inputs]
    const read = dtypes.flatMap((d, k) => (this.held[k] ? [] : [[`v${k}`, d] as const]))
    const places = kernel.outputs.map((_, j) => [`b${inputs + j}`, 'i32'] as const)
    const names = [...read, ...places]
    const items = this.record.count('items')
    let s = `  let t = g * ${width * points}u + l;\n${this.zeros()}${this.loads(true)}`
    for (let u = 0; u < points; u++) {
      s += `  ${names.map(([n, d]) => `var ${n}_${u}: ${d};`).join(' ')}\n  {\n  let i = min(t + ${width * u}u, ${items} - 1u);\n`
      s += `${this.bases()}${this.loads(false)}  ${names.map(([n]) => `${n}_${u} = ${n};`).join(' ')}\n  }\n`
    }
    for (let u = 0; u < points; u++)
      s += `  if (t + ${width * u}u < ${items}) {\n  ${names.map(([n]) => `let ${n} = ${n}_${u};`).join(' ')}\n${this.point(() => '')}  }\n`
    return s
  }
  /** The result's indices, and `b`: where its elements begin in each operand. */
  private bases(): string {
    const { record, mode } = this
    const axes = mode.kind === 'patch' ? this.keptAxes.filter((a) => a !== mode.axis && a !== this.sizes.length - 1) : this.keptAxes
    let s = axes.length === 0 ? '' : this.decode('i', axes, 'x', this.kept)
    this.operands.forEach((_, k) => {
      if (!this.isLiteral(k)) s += `  let b${k} = ${[record.place(k), ...this.along(k, this.keptAxes, (a) => `x${a}`)].join(' + ')};\n`
    })
    return s
  }

  private isLiteral(k: number): boolean {
    return this.operands[k]!.storage < 0
  }
  private access(k: number): Access {
    return k < this.inputs ? this.kernel.inputs[k]! : this.kernel.outputs[k - this.inputs]!.access
  }
  /** i32 offsets of operand k along these axes; `x` names an index. */
  private along(k: number, over: readonly number[], x: (a: number) => string): string[] {
    const { rank, outputs } = this.kernel
    const access = this.access(k)
    return over.flatMap((a) => {
      if (a === rank - 1 && access === 'zero') return []
      if (k >= this.inputs && outputs[k - this.inputs]!.fold?.axes[a] === true) return []
      return a === rank - 1 && access === 'unit' ? [`i32(${x(a)})`] : [`i32(${x(a)}) * ${this.record.stride(k, a)}`]
    })
  }
  /** Takes a flat number apart along axes, the last fastest. Numbers that f32 holds exactly are divided as such. */
  private decode(flat: string, over: readonly number[], name: string, count: number): string {
    if (over.length === 1) return `  let ${name}${over[0]} = ${flat};\n`
    let out = ''
    let rest = flat
    for (let k = over.length - 1; k > 0; k--) {
      const size = this.record.size(over[k]!)
      const q = k === 1 ? `${name}${over[0]}` : `q${name}${k}`
      out += `  let ${q} = ${count <= 1 << 23 ? `quotient(${rest}, ${size})` : `${rest} / ${size}`}; let ${name}${over[k]} = ${rest} - ${q} * ${size};\n`
      rest = q
    }
    return out
  }
  private index(k: number): string {
    return [`b${k}`, ...this.along(k, this.foldAxes, (a) => `f${a}`)].join(' + ')
  }
  /** The inputs that are held, or the others. */
  private loads(held: boolean): string {
    let s = ''
    this.kernel.body.inputs.forEach((dtype, k) => {
      if (this.held[k] !== held) return
      s += `    let v${k} = ${this.isLiteral(k) ? this.record.literal(k, dtype) : load(this.operands[k]!, dtype, this.index(k), this.view)};\n`
    })
    return s
  }

  /** Ops, and what is done with each result, with the folded offset added. */
  private point(fold: (output: number, value: string) => string): string {
    const { body, outputs } = this.kernel
    const n = this.inputs
    let s = ''
    body.ops.forEach((o, k) => {
      const value = this.machine.scalar(o.prim)({
        x: o.args.map((a) => `v${a}`),
        from: o.args.map((a) => (a < n ? body.inputs[a]! : body.ops[a - n]!.dtype) as WgslDType),
        to: o.dtype as WgslDType,
        params: o.params,
      })
      // Typed, so that code of a user's that gives another type is refused on its own line.
      s += this.opaque[k]
        ? `    let o${n + k}: f32 = ${value};\n    let v${n + k} = bitcast<f32>(bitcast<u32>(o${n + k}) ^ z${k % ZEROS});\n`
        : `    let v${n + k}: ${o.dtype} = ${value};\n`
    })
    outputs.forEach((o, j) => {
      const v = `v${body.results[j]}`
      s += o.fold === undefined ? `    ${store(this.operands[n + j]!, o.dtype, this.index(n + j), v, this.view)}\n` : fold(j, v)
    })
    return s
  }

  private combine(j: number, a: string, b: string): string {
    const o = this.kernel.outputs[j]!
    const to = o.dtype as WgslDType
    if (to === 'bool') return `(${a} ${o.fold!.op === 'max' ? '||' : '&&'} ${b})`
    return elementwiseKernels[folds[o.fold!.op]]({ x: [a, b], from: [to, to], to, params: undefined })
  }
  private isSum(j: number): boolean {
    const { dtype, fold } = this.kernel.outputs[j]!
    return fold?.op === 'sum' && dtype === 'f32'
  }
  private identity(j: number): string {
    return this.record.identity(j, this.kernel.outputs[j]!.dtype)
  }

  /** A loop over the folded axes, the totals of a workgroup where there is one, and their stores. */
  private fold(): string {
    const { mode, folded } = this
    let s = ''
    for (const j of folded) s += `  var t${j} = ${this.identity(j)};\n`
    s += this.takeTerms()
    if (mode.kind === 'group') s += this.usesSubgroups() ? this.ofSubgroups() : this.ofWorkgroup(mode.lanes)
    s += this.stores()
    return mode.kind === 'group' ? `${s}  }\n` : s
  }
  /** Every term that this invocation takes, into `t`. */
  private takeTerms(): string {
    const { mode, record, folded, machine } = this
    const sums = folded.filter((j) => this.isSum(j))
    const group = mode.kind === 'group' ? mode.lanes : 1
    const first = partsOf(mode) > 1 ? [`part * ${group}u`] : []
    const start = [...first, ...(group > 1 ? ['l'] : [])].join(' + ') || '0u'
    const step = partsOf(mode) > 1 ? `(${group}u * ${record.count('parts')})` : `${group}u`
    const inside = (u: number): string => {
      const take = (j: number, v: string): string => {
        const to = this.isSum(j) ? `s${j}_${u}` : `t${j}`
        return `      ${to} = ${this.combine(j, to, v)};\n`
      }
      return `${this.decode('f', this.foldAxes, 'f', this.terms).replaceAll('\n  ', '\n      ')}${this.loads(false)}${this.point(take)}`
    }
    // Short bodies several at a time: a turn of the loop costs as much as they do.
    const one = inside(0)
    const calls = machine.lanes > 1 ? one.replaceAll(/cd_m(ax|in)\(/g, '') : one
    const times = one.length <= SHORT && !calls.includes('cd_') ? (machine.lanes > 1 ? UNROLL.many : UNROLL.few) : 1
    const turns = (end: string): string => {
      const single = `  for (; e < ${end}; e += ${step}) {\n    let f = e;\n${one}  }\n`
      if (times === 1) return single
      const many = [...Array(times).keys()].map((u) => `    {\n    let f = e + ${step} * ${u}u;\n${inside(u)}    }\n`)
      return `  for (; e + ${step} * ${times - 1}u < ${end}; e += ${step} * ${times}u) {\n${many.join('')}  }\n${single}`
    }
    let s = ''
    for (const j of sums) s += `  var lost${j} = 0.0;\n`
    s += `  var e = ${start};\n`
    const all = record.count('terms')
    if (sums.length === 0) return s + turns(all)
    s += `  while (e < ${all}) {\n`
    for (const j of sums) for (let u = 0; u < times; u++) s += `    var s${j}_${u} = ${this.identity(j)};\n`
    s += `    let end = min(${all}, e + ${step} * ${TURNS * times}u);\n${turns('end')}`
    for (const j of sums) {
      s += `    ${collect(`t${j}`, `lost${j}`, pairwise([...Array(times).keys()].map((u) => `s${j}_${u}`)))}\n`
    }
    return `${s}  }\n`
  }

  private workgroupArray(j: number, lanes: number): string {
    return `var<workgroup> w${j}: array<${register[this.kernel.outputs[j]!.dtype as WgslDType]}, ${lanes}>;`
  }
  /** Within a subgroup by exchanges, so that every invocation holds its total; then the first adds up the subgroups' in order. Left open. */
  private ofSubgroups(): string {
    const { folded } = this
    let s = ''
    for (const j of folded)
      for (let h = 1; h < 128; h *= 2)
        s += `  if (ss > ${h}u) { t${j} = ${this.combine(j, `t${j}`, `subgroupShuffleXor(t${j}, ${h}u)`)}; }\n`
    s += `  if (si == 0u) { ${folded.map((j) => `w${j}[sg] = t${j};`).join(' ')} }\n  workgroupBarrier();\n  if (l == 0u) {\n`
    for (const j of folded)
      s += `    t${j} = w${j}[0];\n    for (var k = 1u; k < ns; k++) { t${j} = ${this.combine(j, `t${j}`, `w${j}[k]`)}; }\n`
    return s
  }
  /** Halves of the workgroup, one onto the other, until the first invocation has the total. Left open. */
  private ofWorkgroup(lanes: number): string {
    const { folded } = this
    let s = ''
    for (const j of folded) s += `  w${j}[l] = t${j};\n`
    for (let h = lanes / 2; h >= 1; h /= 2) {
      s += `  workgroupBarrier();\n  if (l < ${h}u) {\n`
      for (const j of folded) s += `    w${j}[l] = ${this.combine(j, `w${j}[l]`, `w${j}[l + ${h}u]`)};\n`
      s += '  }\n'
    }
    s += '  if (l == 0u) {\n'
    for (const j of folded) s += `    t${j} = w${j}[0];\n`
    return s
  }
  private stores(): string {
    const { record, view, mode, inputs } = this
    return this.folded
      .map((j, k) => {
        const o = this.kernel.outputs[j]!
        const operand = inputs + j
        if (partsOf(mode) > 1) {
          const at = `${record.scratch()} + i32((${k}u * ${record.count('parts')} + part) * ${record.count('kept')} + i)`
          return `  ${store(partial, o.dtype, at, `t${j}`, view)}\n`
        }
        const to = this.operands[operand]!
        const value = o.fold!.accumulate ? this.combine(j, load(to, o.dtype, `b${operand}`, view), `t${j}`) : `t${j}`
        return `  ${store(to, o.dtype, `b${operand}`, value, view)}\n`
      })
      .join('')
  }
}

export const loopShader = (kernel: LoopKernel, work: Work, machine: Machine, mode: Mode): Dispatch =>
  new LoopShader(kernel, work, machine, mode).dispatch()
