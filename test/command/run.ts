/** The command, run in this process: what it writes and its exit code. */
import { run } from '../../command/command.js'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
export const codual = async (...args: readonly string[]): Promise<Ran> => {
  const written = { out: '', err: '' }
  const stream = (to: 'out' | 'err') => ({
    isTTY: false,
    write: (text: unknown): boolean => {
      written[to] += String(text)
      return true
    },
  })
  const code = await run(args, { out: stream('out'), err: stream('err') })
  return { code, ...written }
}
export const fixture = (name: string): string => `test/command/fixtures/${name}`
