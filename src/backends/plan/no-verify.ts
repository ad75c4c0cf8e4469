/** What stands in the place of verify.ts in a bundle for users, where nobody proves plans. Which one a bundle has is decided in package.json, `imports`. */
import { badInput } from '../../core/errors/explain.js'
import type * as proofs from './verify.js'

export const verify: typeof proofs.verify = (_claim, _ids, wanted) =>
  wanted
    ? badInput(
        'verify',
        'the proofs of plans are not in this bundle.',
        "bundle with the condition 'development', as bundlers do for their development servers, or leave verify out.",
      )
    : undefined
