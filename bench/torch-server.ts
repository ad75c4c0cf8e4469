/** A Python that has PyTorch, asked line by line. CODUAL_PYTHON names it (python3 unless given). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Writes inputs to a folder, where a server finds them. */
export const handOver = (
  folder: string,
  inputs: Readonly<Record<string, { readonly data: Float32Array | Float64Array; readonly shape: readonly number[] }>>,
): void => {
  const described = Object.entries(inputs).map(([name, { shape, data }]) => {
    writeFileSync(join(folder, `${name}.bin`), data)
    return [name, data instanceof Float32Array ? 'float32' : 'float64', shape]
  })
  writeFileSync(join(folder, 'inputs.json'), JSON.stringify(described))
}

export interface Server {
  readonly ask: (what: unknown) => Promise<unknown>
  readonly end: () => Promise<void>
}
export const torchServer = async (file: string, threads: number): Promise<Server> => {
  const n = String(threads)
  const torch = spawn(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, file), n], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OPENBLAS_NUM_THREADS: n, OMP_NUM_THREADS: n, MKL_NUM_THREADS: n },
  })
  const lines = createInterface({ input: torch.stdout })[Symbol.asyncIterator]()
  return {
    ask: async (what) => {
      torch.stdin.write(`${JSON.stringify(what)}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error('PyTorch has ended: CODUAL_PYTHON names a Python that has it')
      return JSON.parse(value)
    },
    end: async () => {
      torch.stdin.end()
      await once(torch, 'close')
    },
  }
}
