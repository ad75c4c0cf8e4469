/**
 * The functions that kernels may call, and how a kernel's text comes to have those it needs: by their names, which all start with `cd_`.
 *
 * Nothing here calls a driver's exp, log, sin, tanh or pow: measured, exp is off by 63 units in the last place, log near 1 by half of its
 * value, sin by 2e-4, and pow is wrong at 0 and below. What is relied on: + - *, round, floor, ceil, comparison of numbers, integers and
 * bitcast; / and sqrt to 2.5 units in the last place (cd_div and cd_sqrt are rounded). What never is: NaN in comparisons, max, min or clamp (bits are tested instead); (x + y) - y, which some drivers
 * fold to x (heads are masked instead, sums held in one piece by cd_held); literals of NaN, Infinity and -0; fma. Subnormal numbers may be
 * flushed to zero, in arguments and in results.
 */
import { basic } from './basic.js'
import { bessel } from './bessel.js'
import { beta } from './beta.js'
import { gamma } from './gamma.js'
import { incomplete } from './incomplete.js'
import { math } from './math.js'
import { powers } from './powers.js'
import { quotients } from './quotients.js'
import { shapeGradients } from './shape-gradients.js'
import { special } from './special.js'
import { trigonometric } from './trigonometric.js'

/** A function (or constant) of WGSL: its text, and the names of the others that it calls. */
interface WgslFunction {
  readonly source: string
  readonly uses: readonly string[]
}

const NAME = /\bcd_\w+/g

/** Names of library functions that a text calls. */
const calledIn = (text: string): ReadonlySet<string> => new Set(text.match(NAME) ?? [])

/** Every function of the library, by name. */
export const functions: Readonly<Record<string, WgslFunction>> = Object.fromEntries(
  Object.entries({
    ...basic,
    ...quotients,
    ...math,
    ...powers,
    ...trigonometric,
    ...special,
    ...gamma,
    ...beta,
    ...bessel,
    ...incomplete,
    ...shapeGradients,
  }).map(([name, source]) => [name, { source: source.trim(), uses: [...calledIn(source)].filter((n) => n !== name) }]),
)

/** The text of the functions, after all that they call, each once. An unknown name is left to the WGSL compiler to report. */
export const library = (names: Iterable<string>): string => {
  const seen = new Set<string>()
  const texts: string[] = []
  const visit = (name: string): void => {
    const f = functions[name]
    if (f === undefined || seen.has(name)) return
    seen.add(name)
    for (const used of f.uses) visit(used)
    texts.push(f.source)
  }
  for (const name of names) visit(name)
  return texts.join('\n')
}

/** The library functions that a kernel's text calls, to be put before it. */
export const preludeOf = (kernel: string): string => library(calledIn(kernel))
