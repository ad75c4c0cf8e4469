/** The results of checks in tests: matchers for `expect.extend` of vitest or jest. Needs neither. */
import type { Checked } from './findings.js'
import { checkedOf, report } from './report.js'

/** What a matcher says, as vitest and jest read it. */
export interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
}

/**
 * Matchers: `expect.extend(matchers)`, then `expect(checkRule(rule)).toPass()`. The message is the table of findings.
 *
 * @example matchers.toPass(checkGrad((x: AnyExpr) => mul(x, x))(2)).pass   // true
 */
export const matchers: { readonly toPass: (checked: Checked) => MatcherResult } = {
  toPass: (checked) => ({ pass: checkedOf(checked, 'toPass')._tag === 'Right', message: () => report(checked) }),
}
