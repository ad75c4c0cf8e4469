// How long an editor waits for the first hover of a program of 300 lines, from the start of TypeScript 7's language server: `npm run bench:hover`.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** A deep network of 98 layers of different widths, three lines each. */
const program = (layers: number): string => `import { add, f32, fn, matmul, sum, tanh, valueAndGrad } from '../dist/index.js'
export const loss = fn({ x: f32('batch', 10), ${Array.from({ length: layers }, (_, i) => `w${i}: f32(${10 + i}, ${11 + i}), b${i}: f32(${11 + i})`).join(', ')} }, (p) => {
  const x0 = p.x
${Array.from({ length: layers }, (_, i) => `  const h${i} = matmul(x${i}, p.w${i})\n  const z${i} = add(h${i}, p.b${i})\n  const x${i + 1} = tanh(z${i})`).join('\n')}
  return sum(x${layers})
})
export const step = valueAndGrad(loss, { wrt: ['w0', 'b0'] })
`

interface Reply {
  readonly id?: number
  readonly result?: { readonly contents?: { readonly value?: string } | string }
}

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(root, 'bench-hover-'))
  try {
    const layers = 98
    const text = program(layers)
    const file = join(folder, 'program.ts')
    writeFileSync(file, text)
    const options = {
      target: 'ES2022',
      module: 'ESNext',
      moduleResolution: 'Bundler',
      strict: true,
      skipLibCheck: true,
      types: [],
      noEmit: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['program.ts'] }))
    const from = performance.now()
    const server = spawn(process.execPath, [join(root, 'node_modules/typescript-7/bin/tsc'), '--lsp', '--stdio'], { cwd: folder })
    const waiting = new Map<number, (reply: Reply) => void>()
    let buffer = Buffer.alloc(0)
    const send = (message: object): void => {
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
      server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`)
      server.stdin.write(body)
    }
    server.stdout.on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk])
      for (;;) {
        const end = buffer.indexOf('\r\n\r\n')
        const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, Math.max(0, end)).toString())?.[1])
        if (end < 0 || buffer.length < end + 4 + length) return
        const reply = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString()) as Reply & { readonly method?: string }
        buffer = buffer.subarray(end + 4 + length)
        // What the server asks of the editor is answered with nothing.
        if (reply.method !== undefined && reply.id !== undefined) send({ id: reply.id, result: null })
        else if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
      }
    })
    let id = 0
    const ask = (method: string, params: object): Promise<Reply> =>
      new Promise((resolve) => {
        id++
        waiting.set(id, resolve)
        send({ id, method, params })
      })
    const uri = pathToFileURL(file).href
    await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} })
    send({ method: 'initialized', params: {} })
    send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'typescript', version: 1, text: readFileSync(file, 'utf8') } },
    })
    const hover = async (name: string): Promise<string> => {
      const line = text.split('\n').findIndex((l) => l.includes(`const ${name} `))
      const character = text.split('\n')[line]!.indexOf(name)
      const { result } = await ask('textDocument/hover', { textDocument: { uri }, position: { line, character } })
      const contents = result?.contents
      return (typeof contents === 'string' ? contents : (contents?.value ?? '')).replace(/\s+/g, ' ')
    }
    const last = await hover(`x${layers}`)
    const first = performance.now() - from
    console.log(`${text.split('\n').length} lines; first hover ${first.toFixed(0)} ms after the server's start: ${last}`)
    const before = performance.now()
    const gradient = await hover('step')
    console.log(`another hover ${(performance.now() - before).toFixed(0)} ms: ${gradient.slice(0, 120)} ...`)
    server.kill()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
await main()
