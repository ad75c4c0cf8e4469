/** `codual bench FILE#name`: how long the value and the gradient take, first and then again, and what memory they need. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { fail } from './failure.js'
import type { Any, Ready } from './function.js'
import { derivativeOf } from './function.js'
import { tableText } from './table.js'

/** One of the two: microseconds and bytes. */
export interface Measured {
  /** From the function to its first result: tracing, planning, code. */
  readonly firstCall: number
  /** The least time of a call of those that follow. */
  readonly call: number
  /** Bytes at the peak of the plan. */
  readonly peakBytes: number
}
export interface Bench {
  readonly format: 1
  readonly name: string
  readonly value: Measured
  readonly gradient: Measured
}
/** A baseline that is slower by this is a failure. */
export const SLOWER = 1.1
const MILLISECONDS = 150
const ROUNDS = 8

const since = (start: number): number => 1000 * (performance.now() - start)

/** The least time of a call, in microseconds, of rounds of calls that together take a while. */
export const leastTime = (call: () => unknown): number => {
  let calls = 1
  for (;;) {
    const start = performance.now()
    for (let i = 0; i < calls; i++) call()
    if (performance.now() - start > MILLISECONDS / ROUNDS || calls > 1e7) break
    calls *= 2
  }
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    for (let i = 0; i < calls; i++) call()
    least = Math.min(least, since(start) / calls)
  }
  return least
}
const measured = (f: Any, { operators, args }: Ready): Measured => {
  const start = performance.now()
  const compiled = operators.compile(f)
  compiled(...args)
  const firstCall = since(start)
  const { peakBytes } = compiled.explain(...args)
  const call = leastTime(() => compiled(...args))
  compiled.dispose()
  return { firstCall, call, peakBytes }
}

export const bench = (ready: Ready): Bench => ({
  format: 1,
  name: ready.name,
  value: measured(ready.f, ready),
  gradient: measured(derivativeOf(ready), ready),
})

export const timeText = (us: number): string =>
  us < 1000 ? `${us.toPrecision(3)} us` : us < 1e6 ? `${(us / 1000).toPrecision(3)} ms` : `${(us / 1e6).toPrecision(3)} s`
const bytes = (n: number): string => (n < 10_000 ? `${n} B` : n < 1e7 ? `${(n / 1000).toFixed(0)} kB` : `${(n / 1e6).toFixed(0)} MB`)
const parts = ['value', 'gradient'] as const

export const benchText = (b: Bench, baseline?: Bench): string =>
  tableText(
    [b.name, 'call', 'first call', 'peak memory', ...(baseline === undefined ? [] : ['of the baseline'])],
    parts.map((part) => [
      part,
      timeText(b[part].call),
      timeText(b[part].firstCall),
      bytes(b[part].peakBytes),
      ...(baseline === undefined ? [] : [(b[part].call / baseline[part].call).toFixed(2)]),
    ]),
    [1, 2, 3, 4],
  )

const isMeasured = (x: unknown): x is Measured => {
  const { firstCall, call, peakBytes } = (x ?? {}) as Partial<Measured>
  return [firstCall, call, peakBytes].every((n) => typeof n === 'number' && Number.isFinite(n) && n >= 0) && call! > 0
}
/** The benchmarks of a file, by name. */
export const readBaseline = (file: string): Readonly<Record<string, Bench>> => {
  if (!existsSync(file)) return fail(`there is no baseline ${file}.`, `write it first: codual bench FILE#name --save ${file}`)
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return fail(`the baseline ${file} is not JSON: ${(error as Error).message}`, `write it again: codual bench FILE#name --save ${file}`)
  }
  const all = typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Readonly<Record<string, Bench>>) : {}
  const wrong = Object.entries(all).filter(([, b]) => b?.format !== 1 || !parts.every((part) => isMeasured(b[part])))
  if (Object.keys(all).length === 0 || wrong.length > 0)
    return fail(
      `the baseline ${file} was not written by codual bench${wrong.length > 0 ? `: ${wrong[0]![0]}` : ''}.`,
      `write it again: codual bench FILE#name --save ${file}`,
    )
  return all
}
/** Writes a benchmark into a file beside those that are there. */
export const saveBaseline = (file: string, key: string, b: Bench): void => {
  const all = existsSync(file) ? readBaseline(file) : {}
  writeFileSync(file, `${JSON.stringify({ ...all, [key]: b }, null, 2)}\n`)
}

/** Which parts take longer than in the baseline, beyond what is allowed. */
export const slowerParts = (b: Bench, baseline: Bench): readonly (typeof parts)[number][] =>
  parts.filter((part) => b[part].call > SLOWER * baseline[part].call)
/** The least of two measurements, part by part: a busy machine makes one of them slow. */
export const leastOf = (a: Bench, b: Bench): Bench => {
  const least = (x: Measured, y: Measured): Measured => ({
    ...x,
    firstCall: Math.min(x.firstCall, y.firstCall),
    call: Math.min(x.call, y.call),
  })
  return { ...a, value: least(a.value, b.value), gradient: least(a.gradient, b.gradient) }
}
