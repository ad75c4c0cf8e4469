/** Loops of a plan as dispatches: one invocation per point, or folds by invocation, by workgroup, or in two passes. */
import type { DType } from '../../core/types/dtype.js'
import type { Body, BodyOp, Fold, LoopKernel, LoopOutput } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { bits, type Dispatch, itemOf, load, place, register, SCRATCH, shader, signed, store, type Word, word } from './dispatch.js'
import { elementwiseKernels } from './elementwise.js'
import type { Dispatches, Machine } from './kernel.js'
import { collect } from './sums.js'
import type { WgslDType } from './wgsl/literal.js'

/** What folds two values into one. */
const folds = { sum: 'add', prod: 'mul', max: 'maximum', min: 'minimum' } as const
const identities: Readonly<Record<Fold, number>> = { sum: 0, prod: 1, max: Number.NEGATIVE_INFINITY, min: Number.POSITIVE_INFINITY }
const identityBits = (op: Fold, dtype: DType): number =>
  dtype === 'f32' || op === 'sum' || op === 'prod'
    ? bits(identities[op], dtype)
    : dtype === 'bool'
      ? Number(op === 'min')
      : op === 'max'
        ? -2147483648
        : 2147483647

/** Invocations in a workgroup, and in one of a software adapter where there are few: each of its cores takes a workgroup. */
const WIDTH = 64
const NARROW = 16
/** Terms that a turn of a fold's loop takes, where their text is no longer than this and calls nothing. */
const UNROLL = 4
const SHORT = 400
/**
 * Turns of the loop after which f32 sums (one for each term of a turn) go to the total, which keeps what additions round off: the error of
 * a sum is that of so many additions, whatever the number of terms.
 */
const TURNS = 16

/** x / d for x up to 2^24, without the division of integers, which is slow wherever it is not emulated by just this. */
const QUOTIENT = `fn quotient(x: u32, d: u32) -> u32 {
  let q = u32(f32(x) / f32(d));
  let r = i32(x - q * d);
  return select(select(q, q + 1u, r >= i32(d)), q - 1u, r < 0);
}
`

/** A loop as its outputs of one kind need it: ops that nothing reads are left out, inputs renumbered. */
interface Part {
  readonly body: Body
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
}

const prune = (body: Body, outputs: readonly number[]): Part => {
  const n = body.inputs.length
  const needed = new Uint8Array(n + body.ops.length)
  for (const o of outputs) needed[body.results[o]!] = 1
  for (let i = body.ops.length - 1; i >= 0; i--) if (needed[n + i] === 1) for (const a of body.ops[i]!.args) needed[a] = 1
  const inputs = body.inputs.flatMap((_, i) => (needed[i] === 1 ? [i] : []))
  const ops = body.ops.flatMap((_, i) => (needed[n + i] === 1 ? [i] : []))
  const at = new Map<number, number>()
  inputs.forEach((i, k) => {
    at.set(i, k)
  })
  ops.forEach((i, k) => {
    at.set(n + i, inputs.length + k)
  })
  return {
    body: {
      inputs: inputs.map((i) => body.inputs[i]!),
      ops: ops.map((i) => ({ ...body.ops[i]!, args: body.ops[i]!.args.map((a) => at.get(a)!) })),
      results: outputs.map((o) => at.get(body.results[o]!)!),
    },
    inputs,
    outputs,
  }
}

/** Dispatches of a loop step: one for each set of folded axes; outputs that are not folded come with the last. */
export const loopDispatches = (kernel: LoopKernel, { sizes, reads, writes }: Work, machine: Machine): Dispatches => {
  const groups = new Map<string, number[]>()
  const plain: number[] = []
  kernel.outputs.forEach((o, i) => {
    if (o.fold === undefined) plain.push(i)
    else {
      const key = o.fold.axes.join()
      const list = groups.get(key)
      if (list === undefined) groups.set(key, [i])
      else list.push(i)
    }
  })
  const sets = [...groups.values()]
  if (sets.length === 0) sets.push(plain)
  else sets[sets.length - 1]!.push(...plain)
  const dispatches: Dispatch[] = []
  let scratchBytes = 0
  for (const set of sets) {
    const part = prune(kernel.body, set)
    const inner: LoopKernel = {
      kind: 'loop',
      rank: kernel.rank,
      body: part.body,
      inputs: part.inputs.map((i) => kernel.inputs[i]!),
      outputs: part.outputs.map((o) => kernel.outputs[o]!),
    }
    const own = { sizes, reads: part.inputs.map((i) => reads[i]!), writes: part.outputs.map((o) => writes[o]!) }
    const made = partDispatches(inner, own, machine)
    dispatches.push(...made.dispatches)
    scratchBytes = Math.max(scratchBytes, made.scratchBytes)
  }
  return { dispatches, scratchBytes }
}

/** Where the parts of a fold leave what they found. */
const partial: Operand = { storage: SCRATCH, offset: 0, strides: [] }

const product = (xs: readonly number[]): number => xs.reduce((a, b) => a * b, 1)

const partDispatches = (kernel: LoopKernel, work: Work, machine: Machine): Dispatches => {
  const { sizes, writes } = work
  const axes = kernel.outputs.find((o) => o.fold !== undefined)?.fold?.axes
  if (axes === undefined) return { dispatches: product(sizes) === 0 ? [] : [emit(kernel, work, machine, { kind: 'map' })], scratchBytes: 0 }
  const kept = product(sizes.filter((_, a) => !axes[a]))
  const folded = product(sizes.filter((_, a) => axes[a]))
  if (kept === 0) return { dispatches: [], scratchBytes: 0 }
  if (machine.lanes > 1 && folded >= 2 * machine.lanes && kept >= machine.fill / (4 * machine.lanes))
    return { dispatches: [emit(kernel, work, machine, { kind: 'group', lanes: machine.lanes })], scratchBytes: 0 }
  const parts = kept >= machine.fill / 2 ? 1 : Math.min(Math.ceil(machine.fill / kept), Math.floor(folded / 32))
  if (parts <= 1) return { dispatches: [emit(kernel, work, machine, { kind: 'thread' })], scratchBytes: 0 }
  // Two passes: partial results [part, kept] in scratch, then a loop that folds the parts.
  const folds = kernel.outputs.flatMap((o, i) => (o.fold === undefined ? [] : [i]))
  const first = emit(kernel, work, machine, { kind: 'parts', parts })
  const keptAxes = sizes.flatMap((_, a) => (axes[a] ? [] : [a]))
  const contiguous: number[] = []
  let run = 4
  for (let k = keptAxes.length - 1; k >= 0; k--) {
    contiguous.unshift(run)
    run *= sizes[keptAxes[k]!]!
  }
  const second: LoopKernel = {
    kind: 'loop',
    rank: keptAxes.length + 1,
    body: { inputs: folds.map((i) => kernel.outputs[i]!.dtype), ops: [], results: folds.map((_, k) => k) },
    inputs: folds.map(() => 'any'),
    outputs: folds.map((i): LoopOutput => {
      const { dtype, fold } = kernel.outputs[i]!
      return { dtype, access: 'any', fold: { op: fold!.op, accumulate: fold!.accumulate, axes: [true, ...keptAxes.map(() => false)] } }
    }),
  }
  const done = partDispatches(
    second,
    {
      sizes: [parts, ...keptAxes.map((a) => sizes[a]!)],
      reads: folds.map((_, k) => ({ storage: SCRATCH, offset: 4 * k * parts * kept, strides: [4 * kept, ...contiguous] })),
      writes: folds.map((i) => ({ ...writes[i]!, strides: [0, ...keptAxes.map((a) => writes[i]!.strides[a]!)] })),
    },
    // The second pass is short: by workgroup where there are barriers, otherwise by invocation.
    { ...machine, fill: 1 },
  )
  return { dispatches: [first, ...done.dispatches], scratchBytes: 4 * folds.length * parts * kept }
}

/** Arithmetic that drivers rewrite across operations: (x + y) - y becomes x, 1 / (1 / x) becomes x, x + -x becomes 0, whatever x is. */
const ALGEBRA: ReadonlySet<string> = new Set(['add', 'sub', 'neg', 'mul', 'div', 'reciprocal', 'sqrt', 'square'])
const isAlgebra = (o: BodyOp): boolean => o.dtype === 'f32' && ALGEBRA.has(o.prim.name)
/** Words of the record that are 0, told apart by nothing but their place: neighbouring results use different ones, so that no two are seen to be equal. */
const ZEROS = 4
/** Which results go through a word that is 0, so that no driver knows what they are: those of arithmetic that arithmetic reads. */
const opaqueOps = (body: Body): readonly boolean[] => {
  const n = body.inputs.length
  const read = new Uint8Array(body.ops.length)
  for (const o of body.ops) if (isAlgebra(o)) for (const a of o.args) if (a >= n) read[a - n] = 1
  return body.ops.map((o, k) => read[k] === 1 && isAlgebra(o))
}

/** A number of a dtype whose bits are a word of the record. */
const numberAt = (dtype: DType, k: number): string =>
  dtype === 'f32' ? `bitcast<f32>(${word(k)})` : dtype === 'i32' ? signed(k) : `(${word(k)} != 0u)`

type Mode =
  | { readonly kind: 'map' }
  | { readonly kind: 'thread' }
  | { readonly kind: 'group'; readonly lanes: number }
  | { readonly kind: 'parts'; readonly parts: number }

const emit = (kernel: LoopKernel, { sizes, reads, writes }: Work, machine: Machine, mode: Mode): Dispatch => {
  const { rank, body } = kernel
  const operands = [...reads, ...writes]
  const n = kernel.inputs.length
  const dtypes: readonly DType[] = [...body.inputs, ...kernel.outputs.map((o) => o.dtype)]
  const view = dtypes.every((d) => d === 'f32') ? 'f32' : 'u32'
  const axes = kernel.outputs.find((o) => o.fold !== undefined)?.fold?.axes ?? sizes.map(() => false)
  const keptAxes = sizes.flatMap((_, a) => (axes[a] ? [] : [a]))
  const foldAxes = sizes.flatMap((_, a) => (axes[a] ? [a] : []))
  const kept = product(keptAxes.map((a) => sizes[a]!))
  const terms = product(foldAxes.map((a) => sizes[a]!))
  // Neighbouring invocations take neighbouring elements: of the folded axes where the innermost is one of them.
  const partsInside = mode.kind === 'parts' && axes[rank - 1] === true

  // The record: counts, axis lengths, then the operands' places and strides (of a literal its bits), then the folds' identities.
  const words: Word[] = [mode.kind === 'parts' ? kept * mode.parts : kept, terms, mode.kind === 'parts' ? mode.parts : 1, kept]
  const sizeAt = words.length
  for (const d of sizes) words.push(d)
  const placeAt: number[] = []
  operands.forEach((o) => {
    placeAt.push(words.length)
    if (o.storage < 0) words.push({ literal: -1 - o.storage })
    else {
      words.push(place(o))
      for (const s of o.strides) words.push(s / itemOf(o))
    }
  })
  const isLiteral = (k: number): boolean => operands[k]!.storage < 0
  const identityAt = kernel.outputs.map((o) => {
    if (o.fold === undefined) return -1
    words.push(identityBits(o.fold.op, o.dtype))
    return words.length - 1
  })
  const zeroAt = words.length
  const opaque = opaqueOps(body)
  if (opaque.includes(true)) for (let z = 0; z < ZEROS; z++) words.push(0)
  const scratchAt = words.length
  if (mode.kind === 'parts') words.push(place(partial))

  const access = (k: number) => (k < n ? kernel.inputs[k]! : kernel.outputs[k - n]!.access)
  /** i32 offset of operand k along these axes; `x` names an index. */
  const along = (k: number, over: readonly number[], x: (a: number) => string): string[] =>
    over.flatMap((a) => {
      if (a === rank - 1 && access(k) === 'zero') return []
      if (k >= n && kernel.outputs[k - n]!.fold?.axes[a] === true) return []
      return a === rank - 1 && access(k) === 'unit' ? [`i32(${x(a)})`] : [`i32(${x(a)}) * ${signed(placeAt[k]! + 1 + a)}`]
    })
  /** Takes a flat number apart along axes, the last fastest. Numbers that f32 holds exactly are divided as such. */
  const decode = (flat: string, over: readonly number[], name: string, count: number): string => {
    if (over.length === 1) return `  let ${name}${over[0]} = ${flat};\n`
    let out = ''
    let rest = flat
    for (let k = over.length - 1; k > 0; k--) {
      const size = word(sizeAt + over[k]!)
      const q = k === 1 ? `${name}${over[0]}` : `q${name}${k}`
      out += `  let ${q} = ${count <= 1 << 24 ? `quotient(${rest}, ${size})` : `${rest} / ${size}`}; let ${name}${over[k]} = ${rest} - ${q} * ${size};\n`
      rest = q
    }
    return out
  }

  const hasFold = kernel.outputs.some((o) => o.fold !== undefined)
  const subgroups = mode.kind === 'group' && machine.subgroups && kernel.outputs.every((o) => o.fold === undefined || o.dtype !== 'bool')
  const declared: string[] = []
  let text = ''
  // ---- who am I
  const invocations = (mode.kind === 'parts' ? kept * mode.parts : kept) * (mode.kind === 'group' ? mode.lanes : 1)
  const width = mode.kind === 'group' ? mode.lanes : machine.lanes === 1 && invocations < 8 * WIDTH ? NARROW : WIDTH
  if (mode.kind === 'group') text += `  let i = g;\n  if (i >= ${word(0)}) { return; }\n`
  else text += `  let t = g * ${width}u + l;\n  if (t >= ${word(0)}) { return; }\n`
  if (mode.kind === 'parts')
    text += partsInside
      ? `  let i = t / ${word(2)}; let part = t % ${word(2)};\n`
      : `  let i = t % ${word(3)}; let part = t / ${word(3)};\n`
  else if (mode.kind !== 'group') text += `  let i = t;\n`
  text += decode('i', keptAxes, 'x', kept)
  if (opaque.includes(true)) for (let z = 0; z < ZEROS; z++) text += `  let z${z} = ${word(zeroAt + z)};\n`
  operands.forEach((_, k) => {
    if (!isLiteral(k)) text += `  let b${k} = ${[signed(placeAt[k]!), ...along(k, keptAxes, (a) => `x${a}`)].join(' + ')};\n`
  })

  const index = (k: number): string => {
    const off = along(k, foldAxes, (a) => `f${a}`)
    return off.length === 0 ? `b${k}` : `b${k} + ${off.join(' + ')}`
  }
  const loadOf = (k: number): string => {
    const dtype = body.inputs[k]!
    return `    let v${k} = ${isLiteral(k) ? numberAt(dtype, placeAt[k]!) : load(operands[k]!, dtype, index(k), view)};\n`
  }
  /** Inputs that a fold meets once: their strides along its axes are known to be zero. */
  const held = body.inputs.map((_, k) => isLiteral(k) || (hasFold && along(k, foldAxes, String).length === 0))
  held.forEach((h, k) => {
    if (h) text += loadOf(k)
  })
  /** Loads, ops, and what is done with each result, with the folded offset added. */
  const point = (fold: (output: number, value: string) => string): string => {
    let s = ''
    held.forEach((h, k) => {
      if (!h) s += loadOf(k)
    })
    body.ops.forEach((o, k) => {
      const value = machine.scalar(o.prim)({
        x: o.args.map((a) => `v${a}`),
        from: o.args.map((a) => (a < n ? body.inputs[a]! : body.ops[a - n]!.dtype) as WgslDType),
        to: o.dtype as WgslDType,
        params: o.params,
      })
      s += `    let v${n + k} = ${opaque[k] ? `bitcast<f32>(bitcast<u32>(${value}) ^ z${k % ZEROS})` : value};\n`
    })
    kernel.outputs.forEach((o, j) => {
      const v = `v${body.results[j]}`
      s += o.fold === undefined ? `    ${store(operands[n + j]!, o.dtype, index(n + j), v, view)}\n` : fold(j, v)
    })
    return s
  }
  const combine = (j: number, a: string, b: string): string => {
    const o = kernel.outputs[j]!
    const to = o.dtype as WgslDType
    if (to === 'bool') return `(${a} ${o.fold!.op === 'max' ? '||' : '&&'} ${b})`
    return elementwiseKernels[folds[o.fold!.op]]({ x: [a, b], from: [to, to], to, params: undefined })
  }
  const identity = (j: number): string => numberAt(kernel.outputs[j]!.dtype, identityAt[j]!)

  if (!hasFold) text += `  {\n${point(() => '')}  }\n`
  else {
    const folded = kernel.outputs.flatMap((o, j) => (o.fold === undefined ? [] : [j]))
    const isSum = (j: number): boolean => kernel.outputs[j]!.fold!.op === 'sum' && kernel.outputs[j]!.dtype === 'f32'
    const sums = folded.filter(isSum)
    for (const j of folded) text += `  var t${j} = ${identity(j)};\n`
    for (const j of sums) text += `  var lost${j} = 0.0;\n`
    const start = mode.kind === 'group' ? 'l' : mode.kind === 'parts' ? 'part' : '0u'
    const step = mode.kind === 'group' ? `${mode.lanes}u` : mode.kind === 'parts' ? word(2) : '1u'
    const inside = (u: number): string => {
      const take = (j: number, v: string): string => {
        const to = isSum(j) ? `s${j}_${u}` : `t${j}`
        return `      ${to} = ${combine(j, to, v)};\n`
      }
      return `${decode('f', foldAxes, 'f', terms).replaceAll('\n  ', '\n      ')}${point(take)}`
    }
    // Short bodies several at a time: a turn of the loop costs as much as they do.
    const one = inside(0)
    const times = one.length <= SHORT && !one.includes('cd_') ? UNROLL : 1
    const turns = (end: string): string => {
      const single = `  for (; e < ${end}; e += ${step}) {\n    let f = e;\n${one}  }\n`
      if (times === 1) return single
      const many = [...Array(times).keys()].map((u) => `    {\n    let f = e + ${step} * ${u}u;\n${inside(u)}    }\n`)
      return `  for (; e + ${step} * ${times - 1}u < ${end}; e += ${step} * ${times}u) {\n${many.join('')}  }\n${single}`
    }
    text += `  var e = ${start};\n`
    if (sums.length > 0) {
      text += `  while (e < ${word(1)}) {\n`
      for (const j of sums) for (let u = 0; u < times; u++) text += `    var s${j}_${u} = ${identity(j)};\n`
      text += `    let end = min(${word(1)}, e + ${step} * ${TURNS * times}u);\n${turns('end')}`
      for (const j of sums) {
        const block = times === 1 ? `s${j}_0` : `(s${j}_0 + s${j}_1) + (s${j}_2 + s${j}_3)`
        text += `    ${collect(`t${j}`, `lost${j}`, block)}\n`
      }
      text += '  }\n'
    } else text += turns(word(1))
    if (mode.kind === 'group' && subgroups) {
      // Within a subgroup by exchanges, so that every invocation holds its total; then the first adds up the subgroups' in order.
      for (const j of folded) {
        declared.push(`var<workgroup> w${j}: array<${register[kernel.outputs[j]!.dtype as WgslDType]}, ${mode.lanes}>;`)
        for (let h = 1; h < 128; h *= 2)
          text += `  if (ss > ${h}u) { t${j} = ${combine(j, `t${j}`, `subgroupShuffleXor(t${j}, ${h}u)`)}; }\n`
      }
      text += `  if (si == 0u) { ${folded.map((j) => `w${j}[sg] = t${j};`).join(' ')} }\n  workgroupBarrier();\n  if (l == 0u) {\n`
      for (const j of folded)
        text += `    t${j} = w${j}[0];\n    for (var k = 1u; k < ns; k++) { t${j} = ${combine(j, `t${j}`, `w${j}[k]`)}; }\n`
    } else if (mode.kind === 'group') {
      for (const j of folded) {
        declared.push(`var<workgroup> w${j}: array<${register[kernel.outputs[j]!.dtype as WgslDType]}, ${mode.lanes}>;`)
        text += `  w${j}[l] = t${j};\n`
      }
      for (let h = mode.lanes / 2; h >= 1; h /= 2) {
        text += `  workgroupBarrier();\n  if (l < ${h}u) {\n`
        for (const j of folded) text += `    w${j}[l] = ${combine(j, `w${j}[l]`, `w${j}[l + ${h}u]`)};\n`
        text += '  }\n'
      }
      text += '  if (l == 0u) {\n'
      for (const j of folded) text += `    t${j} = w${j}[0];\n`
    }
    folded.forEach((j, k) => {
      const o = kernel.outputs[j]!
      if (mode.kind === 'parts') {
        const at = `${signed(scratchAt)} + i32((${k}u * ${word(2)} + part) * ${word(3)} + i)`
        text += `  ${store(partial, o.dtype, at, `t${j}`, view)}\n`
      } else {
        const value = o.fold!.accumulate ? combine(j, load(operands[n + j]!, o.dtype, `b${n + j}`, view), `t${j}`) : `t${j}`
        text += `  ${store(operands[n + j]!, o.dtype, `b${n + j}`, value, view)}\n`
      }
    })
    if (mode.kind === 'group') text += '  }\n'
  }
  if (text.includes('quotient(')) declared.push(QUOTIENT)
  return {
    wgsl: shader({ width, words: words.length, view, body: text, declared: declared.join('\n'), subgroups }),
    words,
    groups: Math.ceil(invocations / width),
    label: 'loop',
  }
}
