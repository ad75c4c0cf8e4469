/** What a check found, for people: at most twelve lines. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, type OptionsOf, readOptions } from '../core/errors/options.js'
import type { CheckName } from './check-names.js'
import type { Checked, Finding } from './findings.js'
import { lookedInWords } from './looked.js'
import { firstOrder } from './mistakes.js'

/** What is given as the result of a check. */
export const checkedOf = (given: Checked, where: string): Checked =>
  given?._tag === 'Right' || (given?._tag === 'Left' && Array.isArray(given.left))
    ? given
    : badInput(where, `${shown(given)} is not the result of a check.`, 'give what checkGrad(f)(...args) or checkRule(rule) gives.')

/** Checks whose findings are wrong derivatives. */
const DERIVATIVES: readonly CheckName[] = [...firstOrder, 'adjoint', 'beside', 'expected']
/** What is wrong, in words. */
const headline = ({ check, of, path, entry }: Finding): string =>
  check === 'raises' || check === 'registry'
    ? `${of}: ${path}`
    : DERIVATIVES.includes(check)
      ? `${of}: the derivative is wrong: ${path}${entry}`
      : `${of}: ${check}: ${path}${entry}`
const inWords = (f: Finding): readonly string[] => {
  const differences = DERIVATIVES.includes(f.check) || f.check === 'second order' || f.check === 'higher order'
  const by = [f.in, f.how].filter((x) => x !== '').join('; ')
  const how = by === '' ? '' : ` (${by})`
  const lines = [
    `wrong ${headline(f)}`,
    differences ? `  true ${f.expected}, found ${f.actual}${how}` : `  ${f.check}: expected ${f.expected}, found ${f.actual}${how}`,
  ]
  if (f.at !== '') lines.push(`  at ${f.at}`)
  if (f.also.length > 0) lines.push(`  also fails: ${f.also.join(', ')}`)
  if (f.fix !== '') lines.push(`  fix: ${f.fix}`)
  if (f.replay !== '') lines.push(`  replay: ${f.replay}`)
  return lines
}
/** Lines of a report, unless all are asked for. */
const LINES = 12
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

export const reportOptions = {
  /** Every finding, and every kink and undecided entry, in place of twelve lines. */
  all: flag(),
}
/** Options of `report`. */
export type ReportOptions = OptionsOf<typeof reportOptions>
/**
 * A result in words, at most twelve lines. One line if it passed (with what is not implemented, at a kink or undecided); otherwise, for each mistake, the expected and the
 * actual value, the place, what else fails for the same reason, and a line that reproduces it.
 *
 * @example report(checkGrad((x: AnyExpr) => sum(mul(x, x)))([1, 2]))   // 'ok   f: ...'
 */
export const report = (given: Checked, options?: ReportOptions): string => {
  const c = checkedOf(given, 'report')
  const { all } = readOptions(reportOptions, options, 'report')
  if (c._tag === 'Left') {
    const lines = cut(c.left.map(inWords), all)
    const where = c.left[0] === undefined ? [] : lookedInWords(c.left[0].looked)
    return [...lines, ...where.slice(0, all ? where.length : Math.max(0, LINES - lines.length))].join('\n')
  }
  const { of, comparisons, seed, notImplemented, kinks, undecided, skipped, looked } = c.right
  const counted = undecided.length === 0 ? '' : `, ${undecided.length} not decided`
  return cut(
    [
      [`ok   ${of}: ${comparisons} comparisons${counted} (seed ${seed})`],
      ...lookedInWords(looked).map((line) => [line]),
      ...(skipped.length > 0 ? [[`  skipped: ${skipped.join(', ')}`]] : []),
      ...notImplemented.map((t) => [`not implemented: ${t}`]),
      ...kinks.map((k) => [`kink ${k}`]),
      ...undecided.map((u) => [`not decided: ${u}`]),
    ],
    all,
  ).join('\n')
}
