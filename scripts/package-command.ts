/** The command of an installed package, as its users run it: files in TypeScript by what the project has for it, the prompt, and a new project that builds, passes its test and its check. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const energy = `import { f64, fn, mul, sin, sum } from 'codual'
export const energy = fn({ x: f64('n') }, ({ x }) => sum(mul(x, sin(x))))
`
const typed = `import { f64, fn, mul, sin, sum } from 'codual'
import { half } from './half.js'
export const energy = fn({ x: f64('n') }, ({ x }) => half(sum(mul(x, sin(x)))))
`
const half = `import { type AnyExpr, mul } from 'codual'
export const half = (x: AnyExpr): AnyExpr => mul(0.5, x)
`

/** Checks by name; each throws where it fails. `user` is a folder with codual and its peers installed, `root` the repository. */
export const commandChecks = (user: string, root: string): Readonly<Record<string, () => void>> => {
  const at = (...path: readonly string[]): string => join(user, ...path)
  const codual = (args: readonly string[], { cwd = user, input = '' } = {}) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [at('node_modules/codual/dist/command/main.js'), ...args], {
      cwd,
      input,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', NODE_REPL_HISTORY: '' },
    })
    return { status, stdout, stderr }
  }
  type Ran = ReturnType<typeof codual>
  const expect = (ran: Ran, status: number, said: RegExp): void => {
    if (ran.status !== status || !said.test(ran.stdout + ran.stderr))
      throw new Error(`expected ${status} and ${said}, got ${JSON.stringify(ran)}`)
  }
  /** What the repository has installed, for the project of the user. */
  const link = (name: string): void => {
    if (!existsSync(at('node_modules', name))) symlinkSync(join(root, 'node_modules', name), at('node_modules', name), 'dir')
  }
  const node = (args: readonly string[], cwd: string): void => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
  }
  const native = Boolean((process.features as { readonly typescript?: unknown }).typescript)
  const strips = native || 'stripTypeScriptTypes' in process.getBuiltinModule('node:module')
  return {
    'npm has linked it': () => {
      if (!existsSync(at('node_modules/.bin/codual'))) throw new Error('node_modules/.bin has no codual')
    },
    'codual check reads JavaScript': () => {
      writeFileSync(at('energy.mjs'), energy)
      expect(codual(['check', 'energy.mjs']), 0, /energy +function +right[\s\S]*1 right, 0 wrong/)
      expect(codual(['show', 'energy.mjs#energy', '--size', 'n=3']), 0, /^fn\(x: f64 \[3\]\)/)
    },
    'codual check says what reads TypeScript, where nothing does': () => {
      writeFileSync(at('half.ts'), half)
      writeFileSync(at('energy.ts'), typed)
      if (!native) expect(codual(['check', 'energy.ts']), 2, /cannot load by itself\.\n {2}fix: npm install --save-dev tsx \(or esbuild\)/)
    },
    'codual repl says what takes types away, where nothing does': () => {
      if (!strips)
        expect(
          codual([], { input: 'const x: number = 1\n' }),
          0,
          /SyntaxError: .*\n {2}fix: for TypeScript, npm install --save-dev esbuild/,
        )
    },
    'codual check reads TypeScript by the esbuild of tsx': () => {
      link('tsx')
      expect(codual(['check', 'energy.ts']), 0, /1 right, 0 wrong/)
    },
    'codual check reads TypeScript by esbuild, and names its lines': () => {
      link('esbuild')
      expect(codual(['check', 'energy.ts']), 0, /1 right, 0 wrong/)
      writeFileSync(
        at('broken.ts'),
        "import { add, type AnyExpr } from 'codual'\n\nexport const x: AnyExpr = add([1, 2], [1, 2, 3] as never)\n",
      )
      expect(codual(['check', 'broken.ts']), 2, /broken\.ts cannot be loaded\.\n {2}add: shapes [^\n]*\n {4}at [^\n]*broken\.ts:3:\d+\n/)
    },
    'codual repl is TypeScript, with the file in scope': () =>
      expect(
        codual(['repl', 'energy.ts'], { input: 'const x: number[] = [0, 0]\nenergy({ x })\n.doc nn.dense\nsum([1, 2], 0)\n' }),
        0,
        /From energy\.ts: energy\.[\s\S]*Tensor f64 \[\] 0\n[\s\S]*nn\.dense, of codual\/nn\n\nA dense layer[\s\S]*\n {2}sum\(\[1, 2\], 0\)\n {2}\^\n {2}fix: /,
      ),
    'a new project builds, passes its test and its check': () => {
      expect(codual(['new', 'springs']), 0, /springs is ready\./)
      // codual and its peers are found above; compiler and loader are the repository's.
      const project = at('springs')
      mkdirSync(at('node_modules/@types'), { recursive: true })
      link('@types/node')
      node([join(root, 'node_modules/typescript/bin/tsc')], project)
      node(['--import', pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href, '--test', 'test/energy.test.ts'], project)
      expect(codual(['check', 'src/energy.ts'], { cwd: project }), 0, /3 right, 0 wrong, 1 not checked/)
      expect(codual(['bench', 'src/energy.ts#energy', '--size', 'n=100'], { cwd: project }), 0, /gradient/)
    },
  }
}
