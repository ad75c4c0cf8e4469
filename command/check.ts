/** `codual check FILE`: the derivatives of what a file exports, against finite differences and against each other. */
import { performance } from 'node:perf_hooks'
import { type Checked, checkPlugin, checkRule, drawArguments, type Finding, makeCheck, type Passed, report } from '../src/check/index.js'
import { isAdException, type Plugin, type Rule } from '../src/index.js'
import { fail, inWords, perhaps } from './failure.js'
import { type Loaded, lineOf } from './load.js'
import { CHECKS, type Kind, type Kit, kitOf, type Subject, type Subjects, subjectsOf } from './subjects.js'

/** What was found of one export. */
export interface Result {
  readonly name: string
  readonly kind: Kind | ''
  /** `raised`: it threw before anything could be compared. */
  readonly verdict: 'right' | 'wrong' | 'raised' | 'not checked'
  readonly passed?: Passed
  readonly findings: readonly Finding[]
  /** In words; of what was not checked, why. */
  readonly text: string
  readonly line: number
  readonly seconds: number
}
export interface CheckRun {
  readonly file: string
  readonly seed: number
  readonly results: readonly Result[]
}

const drawn = (f: unknown): unknown => drawArguments(f)

const checkedOf = ({ kind, value, given: { args, ...options } }: Subject, kit: Kit, seed: number): Checked => {
  const all = { seed, ...options }
  if (kind === 'plugin') return checkPlugin(value as Plugin, all)
  if (kind === 'rule') return checkRule(value as Rule, all)
  return makeCheck(kit.registry).checkGrad(value, { backends: [kit.backend], ...all })(...(args ?? []))
}

/** Unknown options and invalid ranges are mistakes in `checks`, not in a derivative. */
const isMisuse = (error: unknown): boolean =>
  isAdException(error) && error.error._tag === 'BadInput' && /^check(?:Grad|Rule|Plugin)(?: of \w+)?$/.test(error.error.where)

const resultOf = (subject: Subject, loaded: Loaded, kit: Kit, seed: number): Result => {
  const { name, kind } = subject
  const start = performance.now()
  const whole = (rest: Pick<Result, 'verdict' | 'text'> & Partial<Result>): Result => ({
    name,
    kind,
    findings: [],
    line: lineOf(loaded, name),
    seconds: (performance.now() - start) / 1000,
    ...rest,
  })
  try {
    const c = checkedOf(subject, kit, seed)
    const text = report(c, { all: true })
    return c._tag === 'Right' ? whole({ verdict: 'right', passed: c.right, text }) : whole({ verdict: 'wrong', findings: c.left, text })
  } catch (error) {
    if (isAdException(error) && error.error._tag === 'NotDifferentiable' && error.error.op === 'checkGrad')
      return whole({ verdict: 'not checked', text: 'its result is not a float' })
    if (isMisuse(error)) return fail(`${CHECKS}.${name} of ${loaded.path} is invalid.\n${inWords(error).replace(/^/gm, '  ')}`)
    return whole({ verdict: 'raised', text: inWords(error) })
  }
}

/** Who is told how far it is. */
export interface Progress {
  readonly start: (total: number) => void
  readonly next: (name: string) => void
  readonly stop: () => void
}

export interface CheckAsked {
  readonly only: readonly string[]
  readonly seed: number
}

/** The subjects that were asked for by name, or all. */
const chosen = ({ checked, unchecked }: Subjects, only: readonly string[], file: string): Subjects => {
  if (only.length === 0) return { checked, unchecked }
  for (const name of only) {
    if (checked.some((s) => s.name === name)) continue
    const not = unchecked.find((s) => s.name === name)
    if (not !== undefined) fail(`${name} of ${file} is not checked: ${not.reason}.`)
    const names = checked.map((s) => s.name)
    fail(`${file} has no ${name} to check.`, `${perhaps(name, names)}It has ${names.join(', ') || 'nothing to check'}.`)
  }
  return { checked: checked.filter((s) => only.includes(s.name)), unchecked: [] }
}

/** Checks what a file exports, one export after the other. */
export const checkFile = async (loaded: Loaded, { only, seed }: CheckAsked, progress: Progress): Promise<CheckRun> => {
  const { checked, unchecked } = chosen(subjectsOf(loaded, drawn), only, loaded.path)
  if (checked.length === 0)
    fail(
      `${loaded.path} has nothing to check.`,
      unchecked.length === 0
        ? 'export functions made by fn, rules or plugins.'
        : unchecked.map(({ name, reason }) => `${name}: ${reason}`).join('; '),
    )
  const kit = kitOf(loaded)
  const results: Result[] = []
  progress.start(checked.length)
  try {
    for (const subject of checked) {
      progress.next(subject.name)
      await new Promise((next) => setImmediate(next)) // the bar is drawn
      results.push(resultOf(subject, loaded, kit, seed))
    }
  } finally {
    progress.stop()
  }
  return {
    file: loaded.path,
    seed,
    results: [
      ...results,
      ...unchecked.map(({ name, reason }): Result => {
        return { name, kind: '', verdict: 'not checked', findings: [], text: reason, line: lineOf(loaded, name), seconds: 0 }
      }),
    ],
  }
}
/** Is anything wrong? */
export const isFound = ({ results }: CheckRun): boolean => results.some((r) => r.verdict === 'wrong' || r.verdict === 'raised')
