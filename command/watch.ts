/** A command again whenever a file changes: in a process of its own, since a module that was loaded stays as it is. */
import type { ChildProcess } from 'node:child_process'
import { watch } from 'node:fs'
import { dirname, extname, sep } from 'node:path'

/** Editors write a file in several steps. */
const QUIET = 100
/** Is this a source, and none that the command writes itself? */
const isSourceFile = (name: string): boolean =>
  !name.split(sep).includes('node_modules') && !name.includes('.codual-') && /^\.(?:[mc]?[jt]s|json)$/.test(extname(name))

/** Starts a process now, and again whenever a source beside `file` or below it changes; gives what ends that. */
export const watching = (file: string, start: () => ChildProcess, say: (text: string) => void): (() => void) => {
  let running: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  const run = (): void => {
    running?.kill()
    const child = start()
    running = child
    child.once('exit', (code) => {
      if (running !== child) return
      running = undefined
      say(`exit code ${code ?? 'none'}; waiting for changes, ctrl-c leaves`)
    })
  }
  const watcher = watch(dirname(file), { recursive: true }, (_event, name) => {
    if (!isSourceFile(name ?? '')) return
    clearTimeout(timer)
    timer = setTimeout(run, QUIET)
  })
  run()
  return () => {
    clearTimeout(timer)
    watcher.close()
    running?.kill()
  }
}
