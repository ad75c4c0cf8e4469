/** After the tests: the worst by CPU seconds, and what all took. Lines of graphics drivers do not pass. */
import { loadavg } from 'node:os'
import type { TestCase, TestModule } from 'vitest/node'
import { secondsSince } from './cost.js'

/** What software drivers of Vulkan write to the terminal. */
const NOISE = [/^Warning: max\w+ artificially reduced/, /^error: XDG_RUNTIME_DIR/, /^warning: XDG_RUNTIME_DIR/]
const quiet = (stream: NodeJS.WriteStream): void => {
  const write = stream.write.bind(stream)
  stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
    const text = String(chunk)
    if (!NOISE.some((n) => text.split('\n').some((line) => n.test(line)))) return write(chunk, ...rest)
    const kept = text.split('\n').filter((line) => !NOISE.some((n) => n.test(line)))
    return kept.every((line) => line === '') || write(kept.join('\n'), ...rest)
  }) as typeof stream.write
}

interface Row {
  readonly name: string
  readonly seconds: number
}
const worst = (title: string, rows: readonly Row[]): string => {
  const list = [...rows].sort((a, b) => b.seconds - a.seconds).slice(0, 10)
  return [title, ...list.map((r) => `${r.seconds.toFixed(1).padStart(7)}  ${r.name}`)].join('\n')
}
/** Tests over their limit: none on a quiet machine. */
const over = (tests: readonly TestCase[]): string[] => {
  const rows = tests.flatMap((t) => {
    const { cpuSeconds = 0, limit } = t.meta()
    return limit === undefined ? [] : [{ name: `${fileOf(t.module)} > ${t.fullName} (limit ${limit})`, seconds: cpuSeconds }]
  })
  return rows.length === 0 ? [] : [worst('Over their limits (test/cost.ts):', rows)]
}
const fileOf = (m: TestModule): string => m.relativeModuleId

export default class Costs {
  private readonly start = performance.now()

  onInit(): void {
    quiet(process.stdout)
    quiet(process.stderr)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((m) => [...m.children.allTests()])
    if (tests.length < 2) return
    const ofTest = (t: TestCase): Row => ({ name: `${fileOf(t.module)} > ${t.fullName}`, seconds: t.meta().cpuSeconds ?? 0 })
    const ofStarted = (m: TestModule): number => m.meta().startedSeconds ?? 0
    const files = modules.map((m) => ({ name: fileOf(m), seconds: (m.meta().cpuSeconds ?? 0) + ofStarted(m) }))
    const processes = new Map([[process.pid, secondsSince({ user: 0, system: 0 })]])
    for (const { pid, cpuSeconds } of modules.flatMap((m) => m.meta().process ?? []))
      processes.set(pid, Math.max(cpuSeconds, processes.get(pid) ?? 0))
    const started = modules.reduce((s, m) => s + ofStarted(m), 0)
    const total = started + [...processes.values()].reduce((s, x) => s + x, 0)
    const wall = (performance.now() - this.start) / 1000
    const minutes = (s: number): string => `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`
    console.log(
      [
        '',
        worst('Slowest tests, in CPU seconds:', tests.map(ofTest)),
        ...over(tests),
        worst('Slowest files, with their imports and what they start:', files),
        `In all: ${minutes(wall)}, ${minutes(total)} of CPU time, ${minutes(started)} of it by what tests start, ${files.length} files (load ${loadavg()[0]!.toFixed(1)})`,
      ].join('\n'),
    )
  }
}
