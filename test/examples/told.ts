import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'

/** What `main` returns, and the lines it printed. */
export const told = <R>(main: (log: (line: string) => void) => R): { readonly result: R; readonly text: () => string } => {
  const lines: string[] = []
  const result = main((line) => lines.push(line))
  return { result, text: () => lines.join('\n') }
}

/** Calls f with a folder of its own, which is gone afterwards. */
export const inFolder = async <R>(f: (folder: string) => Promise<R>): Promise<R> => {
  const folder = mkdtempSync(join(tmpdir(), 'codual-example-'))
  try {
    return await f(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs an example that writes one picture: its result and its lines; the picture is looked at. */
export const pictured = <R extends { readonly file: string }>(main: (log: (line: string) => void, out: string) => Promise<R>) =>
  inFolder(async (out) => {
    const { result, text } = told((log) => main(log, out))
    const done = await result
    expect(readFileSync(done.file, 'utf8')).toMatch(/^<svg[\s\S]*<path[\s\S]*<\/svg>$/)
    expect(text()).toContain(`picture: ${done.file}`)
    return { result: done, text: text() }
  })
