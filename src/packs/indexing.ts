/** What indices read and write, order along an axis, running results: rules and kernels. */
import { indexingKernels } from '../backends/cpu/indexing.js'
import { scanKernels } from '../backends/cpu/scans.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { indexing, scans } from '../core/ops/families.js'
import { indexingRules } from '../rules/indexing.js'
import { scanRules } from '../rules/scans.js'
import { withTaylor } from '../rules/taylor.js'
import { recurred, runningProduct } from '../rules/taylor-scans.js'

export const indexingPack: Pack = pack(
  { ...indexing, ...scans },
  {
    rules: { ...indexingRules, ...withTaylor(scanRules, { linearRecurrence: recurred, cumprod: runningProduct, sort: 'each' }) },
    cpu: { ...indexingKernels, ...scanKernels },
  },
)
