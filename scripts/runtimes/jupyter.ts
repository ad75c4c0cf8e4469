/** A client of one Jupyter kernel, without Jupyter: it starts the kernel, runs cells in order, and gives what each shows. ZeroMQ's wire protocol is spoken here, as much of it as that needs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** What a cell shows: MIME types with their texts. */
export type Bundle = Readonly<Record<string, unknown>>
export interface Shown {
  readonly bundles: readonly Bundle[]
  /** What it wrote to the console. */
  readonly stream: string
  readonly error: string | undefined
}

const freePort = (): Promise<number> =>
  new Promise((ok, no) => {
    const server = createServer().on('error', no)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => ok(port))
    })
  })
const later = (ms: number): Promise<void> => new Promise((ok) => setTimeout(ok, ms))

/** One connection of ZMTP 3.0 without encryption: whole messages out and in. */
class Peer {
  private buffer = Buffer.alloc(0)
  private greeted = false
  private frames: Buffer[] = []
  private constructor(
    private readonly socket: Socket,
    private readonly type: 'DEALER' | 'SUB',
    private readonly take: (frames: readonly Buffer[]) => void,
    private readonly ready: () => void,
  ) {
    socket.on('data', (data: Buffer) => {
      this.buffer = Buffer.concat([this.buffer, data])
      this.read()
    })
    const greeting = Buffer.alloc(64)
    greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0])
    greeting.write('NULL', 12)
    socket.write(greeting)
  }
  /** Tries until the kernel listens. */
  static async open(port: number, type: 'DEALER' | 'SUB', take: (frames: readonly Buffer[]) => void): Promise<Peer> {
    for (let attempt = 0; ; attempt++)
      try {
        return await new Promise<Peer>((ok, no) => {
          const socket = connect(port, '127.0.0.1').on('error', no)
          socket.on('connect', () => {
            const peer: Peer = new Peer(socket, type, take, () => ok(peer))
          })
        })
      } catch (e) {
        if (attempt > 100) throw e
        await later(100)
      }
  }
  private read(): void {
    if (!this.greeted) {
      if (this.buffer.length < 64) return
      this.buffer = this.buffer.subarray(64)
      this.greeted = true
      const name = Buffer.from('\x05READY\x0bSocket-Type')
      const size = Buffer.alloc(4)
      size.writeUInt32BE(this.type.length)
      const body = Buffer.concat([name, size, Buffer.from(this.type)])
      this.socket.write(Buffer.concat([Buffer.from([4, body.length]), body]))
    }
    for (;;) {
      if (this.buffer.length < 2) return
      const flags = this.buffer[0]!
      const long = (flags & 2) !== 0
      if (long && this.buffer.length < 9) return
      const [size, start] = long ? [Number(this.buffer.readBigUInt64BE(1)), 9] : [this.buffer[1]!, 2]
      if (this.buffer.length < start + size) return
      const body = Buffer.from(this.buffer.subarray(start, start + size))
      this.buffer = this.buffer.subarray(start + size)
      if ((flags & 4) !== 0) {
        if (this.type === 'SUB') this.send([Buffer.from([1])])
        this.ready()
        continue
      }
      this.frames.push(body)
      if ((flags & 1) === 0) {
        const message = this.frames
        this.frames = []
        this.take(message)
      }
    }
  }
  send(frames: readonly Buffer[]): void {
    frames.forEach((frame, i) => {
      const more = i < frames.length - 1 ? 1 : 0
      const head = frame.length < 256 ? Buffer.from([more, frame.length]) : Buffer.alloc(9)
      if (frame.length >= 256) {
        head[0] = more | 2
        head.writeBigUInt64BE(BigInt(frame.length), 1)
      }
      this.socket.write(Buffer.concat([head, frame]))
    })
  }
  close(): void {
    this.socket.destroy()
  }
}

interface Message {
  readonly type: string
  readonly parent: string | undefined
  readonly content: Readonly<Record<string, unknown>>
}
const messageOf = (frames: readonly Buffer[]): Message => {
  const at = frames.findIndex((f) => f.toString() === '<IDS|MSG>')
  const [header, parent, , content] = frames.slice(at + 2, at + 6).map((f) => JSON.parse(f.toString()) as Record<string, unknown>)
  return { type: String(header!.msg_type), parent: parent!.msg_id as string | undefined, content: content! }
}

/** Runs cells in Deno's kernel, in the folder `cwd`, one after the other; ends at the first error. */
export const runCells = async (deno: string, cwd: string, cells: readonly string[], seconds = 60): Promise<readonly Shown[]> => {
  const names = ['shell_port', 'iopub_port', 'stdin_port', 'control_port', 'hb_port'] as const
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()]))) as Record<
    (typeof names)[number],
    number
  >
  const key = randomUUID()
  const file = join(cwd, 'kernel.json')
  writeFileSync(
    file,
    JSON.stringify({ ...ports, ip: '127.0.0.1', key, transport: 'tcp', signature_scheme: 'hmac-sha256', kernel_name: 'deno' }),
  )
  const kernel: ChildProcess = spawn(deno, ['jupyter', '--kernel', '--conn', file], { cwd, stdio: 'ignore' })
  const heard: Message[] = []
  const hear = (frames: readonly Buffer[]): void => {
    heard.push(messageOf(frames))
  }
  const peers: Peer[] = []
  try {
    const iopub = await Peer.open(ports.iopub_port, 'SUB', hear)
    const shell = await Peer.open(ports.shell_port, 'DEALER', () => {})
    peers.push(iopub, shell)
    await later(300) // until the kernel has read the subscription
    const session = randomUUID()
    const ask = (type: string, content: object): string => {
      const id = randomUUID()
      const parts = [
        { msg_id: id, username: '', session, date: new Date().toISOString(), msg_type: type, version: '5.3' },
        {},
        {},
        content,
      ].map((x) => JSON.stringify(x))
      const signature = createHmac('sha256', key).update(parts.join('')).digest('hex')
      shell.send(['<IDS|MSG>', signature, ...parts].map((x) => Buffer.from(x)))
      return id
    }
    const results: Shown[] = []
    for (const code of cells) {
      const id = ask('execute_request', {
        code,
        silent: false,
        store_history: true,
        user_expressions: {},
        allow_stdin: false,
        stop_on_error: true,
      })
      const own = (): readonly Message[] => heard.filter((m) => m.parent === id)
      const until = Date.now() + 1000 * seconds
      while (!own().some((m) => m.type === 'status' && m.content.execution_state === 'idle')) {
        if (kernel.exitCode !== null) throw new Error(`the kernel ended with ${kernel.exitCode}`)
        if (Date.now() > until) throw new Error(`a cell took more than ${seconds} s: ${code.slice(0, 80)}`)
        await later(20)
      }
      const said = own()
      const error = said.find((m) => m.type === 'error')?.content
      results.push({
        bundles: said.filter((m) => m.type === 'execute_result' || m.type === 'display_data').map((m) => m.content.data as Bundle),
        stream: said.filter((m) => m.type === 'stream').map((m) => String(m.content.text)).join(''), // biome-ignore format: one line
        error: error && `${String(error.ename)}: ${String(error.evalue)}`,
      })
      if (error !== undefined) break
    }
    return results
  } finally {
    for (const peer of peers) peer.close()
    kernel.kill()
  }
}
