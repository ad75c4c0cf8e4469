/** Where the program of the matrix runs: other versions of Node, Deno, Bun, and what a browser has. Each gives what the program tells. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'

/** What the program tells. */
export interface Told {
  readonly checks: number
  readonly failed: Readonly<Record<string, string>>
  /** A digest of each check's numbers. */
  readonly numbers: Readonly<Record<string, string>>
  /** WebAssembly, or why not. */
  readonly kernels: string
  readonly relaxed: boolean
  /** The file that an error of the program names. */
  readonly line: string
  readonly gpu: string
  readonly notices: readonly string[]
}
export interface Home {
  readonly name: string
  readonly version: () => string
  readonly run: () => Told | Promise<Told>
}

/** What npm installs: the version of each that the matrix is made with. */
export const versions = { deno: '2.9.6', bun: '1.4.5', node20: '20.20.2', node22: '22.23.3', node24: '24.21.0' } as const

const program = fileURLToPath(new URL('./program.mjs', import.meta.url))
const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** What to install, as npm names it. */
export const packages = (names: readonly (keyof typeof versions)[]): readonly string[] =>
  names.map((name) => (name.startsWith('node') ? `${name}@npm:${platform}@${versions[name]}` : `${name}@${versions[name]}`))

const ask = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26, timeout: 120_000 })
const told = (text: string): Told => JSON.parse(text.trim().split('\n').at(-1)!) as Told

const starts = {
  'esm.mjs': `import { run } from './program.mjs'\nconsole.log(JSON.stringify(await run()))\n`,
  'cjs.cjs': `require('codual')\nimport('./program.mjs').then(async ({ run }) => console.log(JSON.stringify(await run())))\n`,
  'worker.mjs': `import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { run } from './program.mjs'
if (isMainThread) new Worker(new URL(import.meta.url)).on('message', (x) => console.log(JSON.stringify(x))).on('error', (e) => { throw e })
else parentPort.postMessage(await run())
`,
} as const

/** Homes that are commands. `user` has the package installed, `tools` what `packages` names. */
export const commandHomes = (user: string, tools: string, names: readonly (keyof typeof versions)[]): readonly Home[] => {
  const folder = join(user, 'matrix')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'program.mjs'), readFileSync(program))
  for (const [name, text] of Object.entries(starts)) writeFileSync(join(folder, name), text)
  const bin = (name: string): string => join(tools, 'node_modules', name)
  const home = (name: string, command: string, args: readonly string[]): Home => ({
    name,
    version: () => /\d+\.\d+\.\d+/.exec(ask(command, ['--version'], folder))?.[0] ?? '?',
    run: () => told(ask(command, args, folder)),
  })
  const nodes = names.filter((n) => n.startsWith('node')).map((n) => home('Node', join(bin(n), 'bin/node'), ['esm.mjs']))
  return [
    ...nodes,
    home('Node, after `require`', process.execPath, ['cjs.cjs']),
    home('Node, a worker thread', process.execPath, ['worker.mjs']),
    ...(names.includes('deno') ? [home('Deno, without permissions', bin('.bin/deno'), ['run', '--no-prompt', 'esm.mjs'])] : []),
    ...(names.includes('bun') ? [home('Bun', bin('.bin/bun'), ['run', 'esm.mjs'])] : []),
  ]
}

/** Without these, Chromium asks hosts of its maker for updates at every start. */
export const quiet = [
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
] as const

const pages: Readonly<Record<string, string>> = {
  page: `import { run } from './program.mjs'\nglobalThis.told = run()\n`,
  worker: `import { run } from './program.mjs'\nrun().then((x) => postMessage(x))\n`,
  opener: `globalThis.told = new Promise((ok, no) => {
  const worker = new Worker('/worker.js', { type: 'module' })
  worker.onmessage = (e) => ok(e.data)
  worker.onerror = (e) => no(new Error(e.message))
})\n`,
  service: `import { run } from './program.mjs'
addEventListener('install', () => skipWaiting())
addEventListener('activate', (e) => e.waitUntil(clients.claim()))
addEventListener('message', (e) => e.waitUntil(run().then((x) => e.source.postMessage(x))))\n`,
  registrar: `globalThis.told = (async () => {
  await navigator.serviceWorker.register('/service.js', { type: 'module' })
  const { active } = await navigator.serviceWorker.ready
  const answer = new Promise((ok) => navigator.serviceWorker.addEventListener('message', (e) => ok(e.data)))
  navigator.serviceWorker.startMessages()
  active.postMessage('run')
  return answer
})()\n`,
}
const allowed = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"
const refused = "default-src 'self'; script-src 'self'"

/** The homes that a browser has, and how to close it. Every page and script comes under a policy that forbids code from strings. */
export const browserHomes = async (
  user: string,
  executablePath: string,
): Promise<{ readonly homes: readonly Home[]; readonly close: () => Promise<void> }> => {
  const folder = join(user, 'matrix')
  const files = new Map<string, string>()
  for (const [name, text] of Object.entries(pages)) {
    const { outputFiles } = await build({
      stdin: { contents: text, resolveDir: folder, loader: 'js' },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      external: ['node:*', 'webgpu', 'koffi', 'vitest', 'cli-progress', 'fast-check'],
      write: false,
      logLevel: 'silent',
    })
    files.set(`/${name}.js`, outputFiles[0]!.text)
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const script = files.get(pathname)
    response.setHeader('Content-Security-Policy', searchParams.has('refused') ? refused : allowed)
    response.setHeader('Content-Type', script === undefined ? 'text/html' : 'text/javascript')
    response.end(
      script ??
        `<!doctype html><meta charset="utf-8"><title>matrix</title><script type="module" src="/${searchParams.get('script')}.js"></script>`,
    )
  })
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', () => ok()))
  const { port } = server.address() as AddressInfo
  const browser: Browser = await chromium.launch({
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: [...quiet],
  })
  const home = (name: string, script: string, query = ''): Home => ({
    name,
    version: () => browser.version(),
    run: async () => {
      const context = await browser.newContext()
      try {
        const page = await context.newPage()
        await page.goto(`http://127.0.0.1:${port}/?script=${script}${query}`)
        await page.waitForFunction('globalThis.told !== undefined')
        return (await page.evaluate('globalThis.told')) as Told
      } finally {
        await context.close()
      }
    },
  })
  return {
    homes: [
      home('Chromium, a page', 'page'),
      home('Chromium, a module worker', 'opener'),
      home('Chromium, a service worker', 'registrar'),
      home('Chromium, a page without `wasm-unsafe-eval`', 'page', '&refused'),
    ],
    close: async () => {
      await browser.close()
      server.close()
    },
  }
}
