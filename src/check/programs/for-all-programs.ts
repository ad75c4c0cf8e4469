/** `forAllPrograms`: random programs over a registry, what fails made small, and the primitive that is to blame. */

import type { Either } from 'fp-ts/lib/Either.js'
import { left, right } from '../../core/errors/either.js'
import type { AsyncBackend } from '../../core/functions/backend.js'
import { Tensor } from '../../core/graph/tensor.js'
import type { Finding } from '../findings.js'
import { findingsOn } from './asynchronous.js'
import { generate, type Sources, sourcesOf } from './generate.js'
import { guiltyOf } from './guilty.js'
import { allOn, checkOne, type Outcome, primitivesIn } from './laws.js'
import { type ProgramOptions, type ProgramsOf, type Setting, settingOf } from './options.js'
import { built, equations, type RandomProgram, valuesOf } from './program.js'
import { shrinking } from './shrink.js'

/** The smallest program that was found to fail. */
export interface ProgramCounterexample {
  /** The program as equations, as `show` prints them. */
  readonly program: string
  /** Values of its inputs x0, x1 ..., as nested numbers. */
  readonly inputs: readonly unknown[]
  readonly findings: readonly Finding[]
  /** The primitive to blame: its step fails by itself at these arguments, or what fails holds without its rule. */
  readonly guilty?: string
  /** The primitives that the program applies. */
  readonly primitives: readonly string[]
  /** The program's seed; options that draw it again: `{ ...options, ...replay }`. */
  readonly replay: { readonly seed: number; readonly runs: 1 }
  /** The same as a line of code, but for backends and progress. */
  readonly line: string
  /** How many smaller programs were tried. */
  readonly shrinks: number
}
/** In how many programs a primitive was applied, and in how many its derivatives were compared. */
export interface Reached {
  readonly values: number
  readonly derivatives: number
}
/** What was reached, when nothing failed. */
export interface ProgramsPassed {
  readonly runs: number
  readonly seed: number
  readonly steps: number
  readonly comparisons: number
  /** By primitive; those that were never applied have zeros. */
  readonly reached: Readonly<Record<string, Reached>>
  /** Primitives that could be drawn and never were. */
  readonly unreached: readonly string[]
  /** What was not asked of a primitive since it is not there: a backend, vmap, derivatives or JSON, by primitive. */
  readonly without: Readonly<Record<string, readonly string[]>>
  readonly notImplemented: readonly string[]
}
/** Left of the smallest counterexample, Right of what was reached. */
export type ProgramsChecked = Either<ProgramCounterexample, ProgramsPassed>

/** Counts of a run. */
class Tally {
  steps = 0
  comparisons = 0
  private readonly reached: Map<string, { values: number; derivatives: number }>
  private readonly without = new Map<string, Set<string>>()
  private readonly notImplemented = new Set<string>()
  constructor(private readonly setting: Setting) {
    this.reached = new Map(setting.candidates.map((c) => [c.primitive.name, { values: 0, derivatives: 0 }]))
  }
  add(p: RandomProgram, o: Outcome): void {
    this.steps += p.steps.length
    this.comparisons += o.comparisons
    for (const t of o.notImplemented) this.notImplemented.add(t)
    for (const [what, primitive] of o.without) this.leftOut(what, primitive)
    const { ys, from, inputs } = built(p)
    const moving = primitivesIn(ys, o.derived ? new Set(inputs.filter((_, i) => from[i]!.active)) : new Set())
    for (const [name, derived] of moving) {
      const r = this.reached.get(name)
      if (r === undefined) continue
      r.values++
      if (derived) r.derivatives++
    }
  }
  private leftOut(what: string, primitive: string): void {
    this.without.set(what, (this.without.get(what) ?? new Set()).add(primitive))
  }
  passed(): ProgramsPassed {
    const { runs, seed, candidates } = this.setting
    // What a rule leaves out was never asked: programs are drawn so.
    for (const { primitive, rule } of candidates) {
      if (rule.frule === undefined || rule.rrule === undefined) this.leftOut('derivatives', primitive.name)
      if (rule.batch === undefined) this.leftOut('vmap', primitive.name)
    }
    return {
      runs,
      seed,
      steps: this.steps,
      comparisons: this.comparisons,
      reached: Object.fromEntries(this.reached),
      unreached: this.setting.candidates
        .filter((c) => c.weight > 0 && this.reached.get(c.primitive.name)!.values === 0)
        .map((c) => c.primitive.name),
      without: Object.fromEntries([...this.without].map(([what, names]) => [what, [...names].sort()])),
      notImplemented: [...this.notImplemented],
    }
  }
}

/** Whether a smaller program fails too: one step in any way, several by one of the same checks, so that no other fault is followed. */
const sameAs =
  (findings: readonly Finding[]) =>
  (p: RandomProgram, other: readonly Finding[]): boolean =>
    other.some((f) => p.steps.length === 1 || findings.some((g) => g.check === f.check))

const finite = (p: RandomProgram): boolean => {
  try {
    const values = valuesOf(p)
    return p.outputs.every((id) => values.get(id)!.data.every(Number.isFinite))
  } catch {
    return true // a meaning that raises is a failure of its own
  }
}

const counterexample = (
  p: RandomProgram,
  findings: readonly Finding[],
  guilty: string | undefined,
  setting: Setting,
  seed: number,
  shrinks: number,
): ProgramCounterexample => {
  const { ys, values } = built(p)
  return {
    program: equations(p),
    inputs: values.map((v) => new Tensor(v.shape, v.dtype, v.data).toArray()),
    findings: findings.map((f) => (guilty === undefined ? f : { ...f, of: guilty })),
    ...(guilty !== undefined && { guilty }),
    primitives: [...primitivesIn(ys, new Set()).keys()],
    replay: { seed, runs: 1 },
    line: `${setting.where}(registry, { seed: ${seed}, runs: 1${setting.written} })`,
    shrinks,
  }
}

/**
 * Random programs made of the primitives of a registry, of a plugin or of several: values on the CPU backend (or others), derivatives in every
 * mode to the second order against differences and each other, vmap, and a round trip through JSON. A failing program is shrunk, and the
 * report names the primitive whose rule, kernel or codec is to blame.
 *
 * Steps are samples of the primitives; their arguments are earlier values, brought into shape and domain. Half of the steps are of primitives
 * that are not shipped ones.
 * Errors  BadInput for unknown options, and for asynchronous backends, which `forAllProgramsAsync` takes.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const wrong = coreRegistry.with(scalarRule(twice, () => [3]))
 * const c = forAllPrograms(wrong, { runs: 20 })
 * c._tag === 'Left' ? c.left.guilty : ''   // 'twice'
 */
export const forAllPrograms = (of: ProgramsOf, options?: ProgramOptions): ProgramsChecked => {
  const setting = settingOf(of, options, 'forAllPrograms', true)
  const sources = sourcesOf(setting)
  const tally = new Tally(setting)
  for (let k = 0; k < setting.runs; k++) {
    const seed = setting.seed + k
    const p = generate(sources, seed)
    const o = checkOne(p, setting, seed)
    if (o.findings.length > 0) return left(smallest(p, o.findings, setting, seed))
    tally.add(p, o)
    setting.progress(k + 1, setting.runs)
  }
  return right(tally.passed())
}
/** Failures are looked at with every check: a step by itself may fail in another way than the program did. */
const closely = (setting: Setting): Setting => ({ ...setting, checks: { ...allOn, ...setting.checks } })

const smallest = (p: RandomProgram, findings: readonly Finding[], given: Setting, seed: number): ProgramCounterexample => {
  const setting = closely(given)
  const same = sameAs(findings)
  const search = shrinking(p, setting.shrinks)
  let step = search.next()
  while (step.done !== true) step = search.next(finite(step.value) && same(step.value, checkOne(step.value, setting, seed).findings))
  const { program, tried } = step.value
  const last = checkOne(program, setting, seed).findings
  return counterexample(program, last.length > 0 ? last : findings, guiltyOf(program, setting, seed, findings), setting, seed, tried)
}

/**
 * `forAllPrograms` on asynchronous backends too, such as webgpu(): a Promise of its result.
 *
 * Errors  BadInput for unknown options.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = coreRegistry.with(scalarRule(twice, () => [2]))
 * const c = await forAllProgramsAsync(doubling, { runs: 2, only: ['twice'], backends: [cpu()] })
 * c._tag   // 'Right'
 */
export const forAllProgramsAsync = async (of: ProgramsOf, options?: ProgramOptions): Promise<ProgramsChecked> => {
  const setting = settingOf(of, options, 'forAllProgramsAsync', false)
  const sources: Sources = sourcesOf(setting)
  const tally = new Tally(setting)
  const later = setting.backends.filter((b): b is AsyncBackend => b.kind === 'async')
  const check = async (p: RandomProgram, seed: number, by = setting): Promise<Outcome> => {
    const o = checkOne(p, by, seed)
    return o.findings.length > 0 ? o : findingsOn(later, p, o, by, seed)
  }
  for (let k = 0; k < setting.runs; k++) {
    const seed = setting.seed + k
    const p = generate(sources, seed)
    const o = await check(p, seed)
    if (o.findings.length > 0) {
      const close = closely(setting)
      const same = sameAs(o.findings)
      const search = shrinking(p, setting.shrinks)
      let step = search.next()
      while (step.done !== true) step = search.next(finite(step.value) && same(step.value, (await check(step.value, seed, close)).findings))
      const { program, tried } = step.value
      const { findings } = await check(program, seed, close)
      const guilty = guiltyOf(program, close, seed, o.findings)
      return left(counterexample(program, findings.length > 0 ? findings : o.findings, guilty, setting, seed, tried))
    }
    tally.add(p, o)
    setting.progress(k + 1, setting.runs)
  }
  return right(tally.passed())
}
