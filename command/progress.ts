/** How far a command is, on the terminal: a bar by cli-progress where the project has it, else a line for each step. Nothing where no one looks. */
import type { Progress } from './check.js'
import { importFrom } from './project.js'

interface Bar {
  start(total: number, value: number, payload: object): void
  increment(by: number, payload: object): void
  stop(): void
}
type Bars = { readonly SingleBar: new (options: object) => Bar }

const silent: Progress = { start: () => {}, next: () => {}, stop: () => {} }

export const progressOn = async (stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>, folder: string): Promise<Progress> => {
  if (!stream.isTTY) return silent
  const bars = (await importFrom(folder, 'cli-progress')) as Bars | undefined
  let done = 0
  if (bars === undefined) {
    let total = 0
    return {
      ...silent,
      start: (n) => {
        total = n
      },
      next: (name) => void stream.write(`${++done}/${total} ${name}\n`),
    }
  }
  const bar = new bars.SingleBar({ format: '{bar} {value}/{total} {name}', clearOnComplete: true, hideCursor: true, stream })
  return {
    start: (total) => bar.start(total, 0, { name: '' }),
    next: (name) => bar.increment(done++ === 0 ? 0 : 1, { name }),
    stop: () => bar.stop(),
  }
}
