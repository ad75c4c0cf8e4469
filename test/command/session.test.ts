// A session at a pseudo-terminal, key by key: completion, TypeScript, the commands, errors that point, history.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { historyFile } from '../../command/repl/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CLEAR = '\u0015' // ctrl-u: forget the line
const UP = '\u001b[A'

const hasScript = existsSync('/usr/bin/script') && process.platform === 'linux'
/** A prompt that is typed at. */
class Session {
  readonly #child
  #output = ''
  #wake = (): void => {}
  readonly left: Promise<number | null>
  constructor(file: string, env: Readonly<Record<string, string>>) {
    const { NODE_REPL_HISTORY: _, ...rest } = process.env
    // `script` (of Debian's essential packages) opens the pseudo-terminal; without it the prompt is told that its pipes are a terminal.
    const [command, ...args] = hasScript
      ? ['script', '-qfec', `stty cols 100 rows 40; exec '${process.execPath}' --import tsx command/main.ts repl '${file}'`, '/dev/null']
      : [process.execPath, '--import', 'tsx', 'test/command/terminal.ts', file]
    this.#child = spawn(command, args, {
      cwd: root,
      env: { ...rest, NO_COLOR: '1', TERM: 'xterm', ...env },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
        this.#wake()
      })
    this.left = new Promise((done) => void this.#child.once('exit', done))
  }
  /** Types keys, and waits until what they print, without the commands of the terminal, is as expected; gives that. */
  async type(keys: string, expected: RegExp): Promise<string> {
    const from = this.#output.length
    this.#child.stdin.write(keys)
    return this.#until(from, expected)
  }
  /** What is printed before anything is typed. */
  begin(expected: RegExp): Promise<string> {
    return this.#until(0, expected)
  }
  async #until(from: number, expected: RegExp): Promise<string> {
    const end = Date.now() + 60_000
    for (;;) {
      const text = stripVTControlCharacters(this.#output.slice(from)).replaceAll('\r', '')
      if (expected.test(text)) return text
      if (Date.now() > end) throw new Error(`expected ${expected}, got ${JSON.stringify(text)}`)
      await new Promise<void>((wake) => {
        this.#wake = wake
        setTimeout(wake, 250)
      })
    }
  }
  close(): void {
    this.#child.kill()
  }
}

describe('historyFile', () => {
  it('is where Node, XDG or the home folder says', () => {
    expect(historyFile({ NODE_REPL_HISTORY: '', XDG_STATE_HOME: '/state' })).toBe('')
    expect(historyFile({ NODE_REPL_HISTORY: '/h' })).toBe('/h')
    expect(historyFile({ XDG_STATE_HOME: '/state' })).toBe(join('/state', 'codual', 'history'))
    expect(historyFile({})).toMatch(/[\\/]\.codual_history$/)
  })
})

it.runIf(existsSync('/etc/debian_version'))('has a pseudo-terminal where there is one on every machine', () => {
  expect(hasScript).toBe(true)
})

describe('a session', () => {
  let state = ''
  beforeAll(() => {
    state = mkdtempSync(join(tmpdir(), 'codual-repl-'))
  })
  afterAll(() => rmSync(state, { recursive: true, force: true }))

  it('completes, explains, plots, checks, points at mistakes and keeps its history', async () => {
    const s = new Session('test/command/fixtures/small.ts', { XDG_STATE_HOME: state })
    try {
      const banner = await s.begin(/codual> $/)
      expect(banner).toMatch(/From test\/command\/fixtures\/small\.ts: energy, wrong, helper, mask, cubeRule, volume, size\./)

      // Names, members of namespaces, options, paths of inputs, and expressions behind commands.
      await s.type('logsum\t', /logsumexp/)
      await s.type(CLEAR, /codual> $/)
      await s.type('optim.adama\t', /optim\.adamax|optim\.adamaxw?/)
      await s.type(CLEAR, /codual> $/)
      await s.type('sum([1, 2], { keep\t', /keepdims/)
      await s.type(CLEAR, /codual> $/)
      await s.type('grad(energy, { wrt: "p.\t', /p\.w/)
      await s.type(CLEAR, /codual> $/)
      await s.type('.doc matm\t', /matmul/)
      expect(await s.type('\n', /example\n {2}matmul\(\[\[1, 2\]\], \[\[3\], \[4\]\]\) {3}\/\/ \[\[11\]\]\ncodual> $/)).toMatch(
        /matmul, of codual\n\nMatrix product y = A B/,
      )

      if (hasScript) await s.type('process.stdin.isTTY && process.stdout.columns\n', /\n100\ncodual> $/)
      // TypeScript, over several lines, and values.
      await s.type('const square = (x: AnyExpr): AnyExpr => {\n', /\.\.\. $/)
      await s.type('return mul(x, x)\n', /\.\.\. $/)
      await s.type('}\n', /undefined\ncodual> $/)
      await s.type('square([2, 3] as number[])\n', /\nExpr f64 \[2\] \[4, 9\]\ncodual> $/)
      await s.type('energy({ x: [0], p: { w: 2 } })\n', /\nTensor f64 \[\] 0\ncodual> $/)

      // Mistakes point at what was typed, behind types that are taken away.
      await s.type(
        'const y: number[] = 3 + add([1, 2], [1, 2, 3])\n',
        /\n {2}const y: number\[\] = 3 \+ add\(\[1, 2\], \[1, 2, 3\]\)\n {26}\^\n {2}fix: axes/,
      )
      await s.type('const z: number = ;\n', /SyntaxError: (?:Unexpected ";"|Expression expected)\n {2}const z: number = ;\n {20}\^\n/)
      await s.type('.show 1 + nothing\n', /ReferenceError: nothing is not defined\n {2}1 \+ nothing\n {6}\^\n/)

      // The commands.
      await s.type('.derivative energy\n', /grad\(fn\)\(p\.w: f64 \[\], x: f64 \[\d\]\)\n[\s\S]*return p\.w/)
      await s.type('.derivative volume\n', /grad\(fn\)\(x: f64 \[\d\]\)/)
      await s.type('.show square, [1, 2]\n', /square\(x0: f64 \[2\]\)\n {2}y0 = mul\(x0, x0\) : f64 \[2\]\n {2}return y0\n/)
      await s.type('.explain square, [1, 2]\n', /cpu: 1 step, 1 kernel, 2 flops/)
      await s.type('.check wrong, [0.5]\n', /wrong wrong: the derivative is wrong/)
      await s.type('.time add(1, 2)\n', /[\d.]+ [um]s, the least of many\n/)
      await s.type('.plot [0, 1, 4, 9]\n', /┤[\s\S]*┏[\s\S]*└┬[\s\S]*▶\n +0 [ .\d]+ 3\ncodual> $/)
      await s.type('.plot tanh, -2, 2\n', / 0┤ +┏[\s\S]*└┬[\s\S]*▶\n +-2 +-1 +0 +1 +2\ncodual> $/)
      await s.type('.doc matmull\n', /there is no docstring for matmull\.\n {2}fix: Perhaps you meant matmul\.\n/)

      // What was done is saved, and loaded again.
      const saved = join(state, 'session.ts')
      await s.type(`.save ${saved}\n`, /Session saved to: /)
      expect(readFileSync(saved, 'utf8')).toContain('const square = (x: AnyExpr): AnyExpr => {')
      await s.type('.exit\n', /exit/)
      expect(await s.left).toBe(0)
    } finally {
      s.close()
    }
    expect(readFileSync(join(state, 'codual', 'history'), 'utf8')).toContain('.plot tanh, -2, 2')

    const again = new Session('test/command/fixtures/small.ts', { XDG_STATE_HOME: state })
    try {
      await again.begin(/codual> $/)
      await again.type(UP, /\.exit/)
      await again.type(UP, /\.save/)
      await again.type(CLEAR, /codual> $/)
      expect(existsSync(join(state, 'session.ts'))).toBe(true)
      await again.type(`.load ${join(state, 'session.ts')}\n`, /Unexpected ";"|Expression expected|codual> $/)
      await again.type('square([4])\n', /\nExpr f64 \[1\] \[16\]\ncodual> $/)
    } finally {
      again.close()
    }
  })
})
