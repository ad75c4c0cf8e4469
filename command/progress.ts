/** How far a command is, on the terminal: a bar by cli-progress where the project has it, else a line for each step, before it begins: the last is the one that does not end. */
import type { Progress } from './check.js'
import { importFrom } from './project.js'

interface Bar {
  start(total: number, value: number, payload: object): void
  increment(by: number, payload: object): void
  render(): void
  stop(): void
}
type Bars = { readonly SingleBar: new (options: object) => Bar }

/** A line for each step. */
const lines = (stream: Pick<NodeJS.WriteStream, 'write'>): Progress => {
  let [done, total] = [0, 0]
  return {
    start: (n) => {
      total = n
    },
    next: (name) => void stream.write(`${++done}/${total} ${name}\n`),
    stop: () => {},
  }
}

export const progressOn = async (stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>, folder: string): Promise<Progress> => {
  const bars = stream.isTTY ? ((await importFrom(folder, 'cli-progress')) as Bars | undefined) : undefined
  if (bars === undefined) return lines(stream)
  const bar = new bars.SingleBar({ format: '{bar} {value}/{total} {name}', clearOnComplete: true, hideCursor: true, stream })
  let done = 0
  return {
    start: (total) => bar.start(total, 0, { name: '' }),
    next: (name) => {
      bar.increment(done++ === 0 ? 0 : 1, { name })
      bar.render() // the bar itself draws at its own times, which a check holds up
    },
    stop: () => bar.stop(),
  }
}
