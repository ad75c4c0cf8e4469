/** What `explain()` tells, as text: one line of figures, a table of steps, and what the derivatives leave out. */
import { grouped, printedAs, tableOf } from '../errors/print.js'
import type { Explanation } from './backend.js'

const short = (text: string): string => (text.length > 48 ? `${text.slice(0, 45)}...` : text)
const many = (n: number, one: string): string => `${grouped(n)} ${one}${n === 1 ? '' : 's'}`

/** An explanation as lines that fit a terminal; the data has all of it. */
export const explanationText = (e: Explanation): string => {
  const figures = [
    many(e.steps.length, 'step'),
    many(e.kernels, 'kernel'),
    many(e.flops, 'flop'),
    `${many(e.bytes, 'byte')} moved`,
    `${grouped(e.peakBytes)} at the peak`,
    ...(e.copiedAccumulators > 0 ? [`${many(e.copiedAccumulators, 'accumulator')} copied`] : []),
    e.cached ? 'its plan was cached' : `planned in ${e.planMs.toFixed(1)} ms`,
    ...(e.verified === undefined ? [] : [`verified: ${e.verified}`]),
  ]
  const steps = tableOf(
    ['step', 'kernel', 'sizes', 'flops', 'bytes', 'reads', 'writes'],
    e.steps.map((s, i) => [
      s.times === 1 ? i : `${i} (${grouped(s.times)} times)`,
      `${short(s.kernel)}${s.transfer === undefined ? '' : ' (on the CPU)'}`,
      `[${s.sizes.join(', ')}]`,
      s.flops,
      s.bytes,
      short(s.reads.join(', ')),
      short(s.writes.join(', ')),
    ]),
  )
  const device = e.device && `device: ${tellDevice(e.device)}.`
  const dropped = e.dropped ?? []
  return [
    `${e.backend}: ${figures.join(', ')}.`,
    ...(e.steps.length === 0 ? [] : steps.map((line) => `  ${line}`)),
    ...e.loops.map(
      (l) =>
        `loop: steps ${l.first} to ${l.end - 1}, ${l.conditional ? 'at most ' : ''}${grouped(l.count)} times, ${grouped(l.bytesPerStep)} bytes moved by each, ${grouped(l.stackedBytes)} stacked.`,
    ),
    ...(device === undefined ? [] : [device]),
    ...(e.blas === undefined ? [] : [`system library: ${e.blas}.`]),
    ...(e.threads === undefined ? [] : [`threads: ${e.threads}.`]),
    ...(e.fallback === undefined ? [] : [`slower than it could be: ${e.fallback}`]),
    ...(dropped.length === 0 ? [] : ['left out of the derivatives:', ...dropped.map((d) => `  ${d.text}`)]),
  ].join('\n')
}
const tellDevice = (d: NonNullable<Explanation['device']>): string =>
  [
    `${d.dispatches} dispatches`,
    many(d.submits, 'submit'),
    many(d.readbacks, 'readback'),
    `${many(d.bytesWritten, 'byte')} written`,
    `${grouped(d.bytesRead)} read`,
    many(d.pipelines, 'pipeline'),
    ...(d.trips === undefined ? [] : [`a submit and a readback for each ${d.trips} iterations of a loop without maxSteps`]),
  ].join(', ')

/** The same data, which prints as that text. */
export const printedExplanation = (e: Explanation): Explanation => printedAs(e, (x) => explanationText(x))
