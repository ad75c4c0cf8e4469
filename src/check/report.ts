/** What a check found, for people: at most ten lines. */
import { optionsOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import type { Checked, Finding } from './findings.js'
import { firstOrder } from './mistakes.js'

/** What is given as the result of a check. */
export const checkedOf = (given: Checked, where: string): Checked =>
  given?._tag === 'Right' || (given?._tag === 'Left' && Array.isArray(given.left))
    ? given
    : raise({
        _tag: 'BadInput',
        where,
        reason: `${shown(given)} is not the result of a check.`,
        fix: 'give what checkGrad(f)(...args) or checkRule(rule) gives.',
      })

/** What is wrong, in words. */
const headline = ({ check, of, path, entry }: Finding): string =>
  check === 'raises' || check === 'registry'
    ? `${of}: ${path}`
    : firstOrder.includes(check) || check === 'adjoint'
      ? `${of}: the derivative is wrong: ${path}${entry}`
      : `${of}: ${check}: ${path}${entry}`
const inWords = (f: Finding): readonly string[] => {
  const differences = firstOrder.includes(f.check) || f.check === 'second order' || f.check === 'higher order'
  const by = [f.in, f.how].filter((x) => x !== '').join('; ')
  const how = by === '' ? '' : ` (${by})`
  const lines = [
    `wrong ${headline(f)}`,
    differences ? `  true ${f.expected}, found ${f.actual}${how}` : `  ${f.check}: expected ${f.expected}, found ${f.actual}${how}`,
  ]
  if (f.at !== '') lines.push(`  at ${f.at}`)
  if (f.also.length > 0) lines.push(`  also fails: ${f.also.join(', ')}`)
  if (f.replay !== '') lines.push(`  replay: ${f.replay}`)
  return lines
}
/** Lines of a report, unless all are asked for. */
const LINES = 10
/** As many as fit; the others are counted. */
const cut = (blocks: readonly (readonly string[])[], all: boolean): readonly string[] => {
  const out: string[] = []
  for (const [i, block] of blocks.entries()) {
    const left = blocks.length - i
    if (!all && i > 0 && out.length + block.length + (left > 1 ? 1 : 0) > LINES) {
      out.push(`and ${left} more: report(checked, { all: true })`)
      return out
    }
    out.push(...block)
  }
  return out
}

/** Options of `report`. */
export interface ReportOptions {
  /** Every finding, and every kink and undecided entry, in place of ten lines. */
  readonly all?: boolean | undefined
}
/**
 * A result in words, at most ten lines: one line when it passed (and what is not implemented, at a kink or not decided), else for each mistake what is true and what was
 * found, where, what else fails for that reason, and a line that finds it again.
 *
 * @example report(checkGrad((x: AnyExpr) => sum(mul(x, x)))([1, 2]))   // 'ok   f: ...'
 */
export const report = (given: Checked, options?: ReportOptions): string => {
  const c = checkedOf(given, 'report')
  const { all = false } = optionsOf(options, { all: true }, 'report')
  if (c._tag === 'Left') return cut(c.left.map(inWords), all).join('\n')
  const { of, comparisons, seed, notImplemented, kinks, undecided } = c.right
  const counted = undecided.length === 0 ? '' : `, ${undecided.length} not decided`
  return cut(
    [
      [`ok   ${of}: ${comparisons} comparisons${counted} (seed ${seed})`],
      ...notImplemented.map((t) => [`not implemented: ${t}`]),
      ...kinks.map((k) => [`kink ${k}`]),
      ...undecided.map((u) => [`not decided: ${u}`]),
    ],
    all,
  ).join('\n')
}
