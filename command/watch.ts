/** A command again whenever a file changes: in a process of its own, since a module that was loaded stays as it is. */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { dirname, extname, sep } from 'node:path'

/** Editors write a file in several steps. */
const QUIET = 100

/** Runs `args` by this command, now and whenever a source beside `file` or below it changes, until the process is told to stop. */
export const watching = async (file: string, args: readonly string[], say: (text: string) => void): Promise<never> => {
  let running: ReturnType<typeof spawn> | undefined
  let timer: NodeJS.Timeout | undefined
  const run = (): void => {
    running?.kill()
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], { stdio: 'inherit' })
    running = child
    child.once('exit', (code) => {
      if (running !== child) return
      running = undefined
      say(`exit code ${code ?? 'none'}; waiting for changes, ctrl-c leaves`)
    })
  }
  const watcher = watch(dirname(file), { recursive: true }, (_event, name) => {
    const changed = name ?? ''
    if (changed.split(sep).includes('node_modules') || changed.includes('.codual-') || !/^\.(?:[mc]?[jt]s|json)$/.test(extname(changed)))
      return
    clearTimeout(timer)
    timer = setTimeout(run, QUIET)
  })
  process.once('SIGINT', () => {
    watcher.close()
    running?.kill()
    process.exit(0)
  })
  run()
  return new Promise<never>(() => {})
}
