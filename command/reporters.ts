/** What a check found, for people, for scripts, for CI servers and for GitHub. */
import { relative } from 'node:path'
import type { CheckRun, Result } from './check.js'
import { type Paint, tableText } from './table.js'

const counts = ({ results }: CheckRun) => {
  const of = (verdict: Result['verdict']): number => results.filter((r) => r.verdict === verdict).length
  return { right: of('right'), wrong: of('wrong') + of('raised'), unchecked: of('not checked') }
}
const shownFile = (file: string): string => relative(process.cwd(), file) || file
const seconds = (s: number): string => s.toFixed(s < 10 ? 2 : 0)
const isWrong = (r: Result): boolean => r.verdict === 'wrong' || r.verdict === 'raised'

/** What is neither right nor wrong, though nothing was found: a reader should know. */
const leftOpen = ({ passed, kind, text }: Result): readonly string[] => {
  if (passed === undefined) return []
  // A function need not reach every rule of its file; a rule that is checked must have run.
  const idle = kind === 'function' ? [] : text.split('\n').filter((line) => line.includes('never ran'))
  return [
    ...passed.notImplemented.map((text) => `not implemented: ${text}`),
    ...passed.kinks.map((text) => `kink: ${text}`),
    ...passed.undecided.map((text) => `not decided: ${text}`),
    ...(passed.skipped.length > 0 ? [`skipped: ${passed.skipped.join(', ')}`] : []),
    ...idle.map((line) => line.trim()),
  ]
}

const table = (run: CheckRun, paint: Paint): string => {
  const { right, wrong, unchecked } = counts(run)
  const colour = { right: 'green', wrong: 'red', raised: 'red', 'not checked': 'yellow' } as const
  const rows = run.results
    .filter((r) => r.verdict !== 'not checked')
    .map((r) => [
      r.name,
      r.kind,
      paint(colour[r.verdict], r.verdict),
      String(r.passed?.comparisons ?? ''),
      String(r.passed?.undecided.length ?? ''),
      seconds(r.seconds),
    ])
  const parts = [`${right} right`, `${wrong} wrong`, ...(unchecked > 0 ? [`${unchecked} not checked`] : [])]
  const open = run.results.flatMap((r) => leftOpen(r).map((line) => `${r.name}: ${line}`))
  return [
    tableText(['name', 'kind', 'verdict', 'compared', 'undecided', 'seconds'], rows, [3, 4, 5]),
    ...open.map((line) => paint('dim', line)),
    ...run.results
      .filter(isWrong)
      .map((r) => `\n${paint('bold', `${r.name} (${shownFile(run.file)}:${r.line})`)}\n${r.text.replace(/^/gm, '  ')}`),
    ...(unchecked > 0
      ? ['\nnot checked:', ...run.results.filter((r) => r.verdict === 'not checked').map((r) => `  ${r.name}: ${r.text}`)]
      : []),
    `\n${paint(wrong > 0 ? 'red' : 'green', parts.join(', '))} (seed ${run.seed})`,
  ].join('\n')
}

const json = (run: CheckRun): string =>
  JSON.stringify(
    {
      format: 1,
      file: shownFile(run.file),
      seed: run.seed,
      ...counts(run),
      results: run.results.map(({ name, kind, verdict, passed, findings, text, line, seconds }) => ({
        name,
        kind,
        verdict,
        line,
        seconds,
        ...(passed !== undefined && {
          comparisons: passed.comparisons,
          undecided: passed.undecided,
          kinks: passed.kinks,
          skipped: passed.skipped,
        }),
        // Where the check looked is long, and in the text.
        findings: findings.map(({ looked: _, ...finding }) => finding),
        text,
      })),
    },
    null,
    2,
  )

const xml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of these
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
const first = (text: string): string => text.split('\n')[0]!

const junit = (run: CheckRun): string => {
  const { wrong, unchecked } = counts(run)
  const total = run.results.reduce((sum, r) => sum + r.seconds, 0)
  const attributes = `tests="${run.results.length}" failures="${wrong}" skipped="${unchecked}" time="${total.toFixed(3)}"`
  const cases = run.results.map((r) => {
    const head = `    <testcase classname="${xml(shownFile(run.file))}" name="${xml(r.name)}" file="${xml(shownFile(run.file))}" line="${r.line}" time="${r.seconds.toFixed(3)}"`
    if (r.verdict === 'right') return `${head}/>`
    const inner =
      r.verdict === 'not checked'
        ? `<skipped message="${xml(r.text)}"/>`
        : `<failure message="${xml(first(r.text))}">${xml(r.text)}</failure>`
    return `${head}>\n      ${inner}\n    </testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="codual check" ${attributes}>`,
    `  <testsuite name="${xml(shownFile(run.file))}" ${attributes}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

/** Commands of a workflow: a message has its line breaks escaped, a property also what separates it. */
const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
const github = (run: CheckRun): string => {
  const { right, wrong, unchecked } = counts(run)
  const at = (r: Result): string => `file=${property(shownFile(run.file))},line=${r.line},title=${property(`codual check ${r.name}`)}`
  return [
    ...run.results.flatMap((r) =>
      isWrong(r)
        ? [`::error ${at(r)}::${escaped(r.text)}`]
        : r.verdict === 'not checked'
          ? [`::notice ${at(r)}::not checked: ${escaped(r.text)}`]
          : [],
    ),
    `${right} right, ${wrong} wrong, ${unchecked} not checked (seed ${run.seed})`,
  ].join('\n')
}

export const reporters = { table, json, junit, github } satisfies Readonly<Record<string, (run: CheckRun, paint: Paint) => string>>
export type Reporter = keyof typeof reporters
