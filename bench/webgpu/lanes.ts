// Where the bundle runs: a headless Chromium on SwiftShader, and Node through Dawn on lavapipe. A lane that does not answer is restarted.
import { type ChildProcess, fork } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findLane, useLane } from '../../test/backends/webgpu/adapter.js'
import type { WorkloadId } from '../peer.js'
import type { Ask } from './child.js'
import type { Row, RowOptions } from './page.js'

export interface Lane {
  readonly name: string
  readonly adapter: () => Promise<string>
  readonly row: (id: WorkloadId, options: RowOptions) => Promise<Row>
  readonly close: () => Promise<void>
}

/** The bundle and an empty page, on localhost: WebGPU wants a secure context. */
const serve = (code: string): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer(({ url }, answer) => {
      const script = url === '/page.js'
      answer.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      answer.end(script ? code : '<!doctype html><script type="module" src="/page.js"></script>')
    })
    server.listen(0, '127.0.0.1', () => resolve(server))
  })

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CODUAL_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--enable-unsafe-webgpu',
      '--enable-features=Vulkan',
      '--use-webgpu-adapter=swiftshader',
      '--ignore-gpu-blocklist',
    ],
  })

/** Chromium with its own SwiftShader; undefined where there is no Chromium. */
export const browserLane = async (code: string): Promise<Lane | undefined> => {
  let browser: Browser | undefined
  try {
    browser = await launch()
  } catch (e) {
    console.warn(`no Chromium: ${String(e).split('\n')[0]} (set CODUAL_CHROMIUM to its path)`)
    return undefined
  }
  const server = await serve(code)
  const { port } = server.address() as AddressInfo
  let page: Page | undefined
  const opened = async (): Promise<Page> => {
    if (page !== undefined) return page
    browser ??= await launch()
    page = await browser.newPage()
    await page.goto(`http://localhost:${port}/`)
    await page.waitForFunction('globalThis.codualBench !== undefined')
    return page
  }
  const closed = async (): Promise<void> => {
    await browser?.close()
    browser = undefined
    page = undefined
  }
  return {
    name: 'Chromium, SwiftShader',
    adapter: async () => (await opened()).evaluate(() => codualBench.adapter()),
    row: async (id, options) => {
      const row = await (await opened()).evaluate(([id, options]) => codualBench.row(id, options), [id, options] as const)
      // A page alone does not take its work with it: the browser's other process goes on.
      if (stuck(row)) await closed()
      return row
    },
    close: async () => {
      await closed()
      server.close()
    },
  }
}

/** Whether a peer was left at work: what it has asked of the device would slow the next row. */
const stuck = (row: Row): boolean => Object.values(row).some((o) => o.kind === 'failed')

/** Dawn in a process of its own; undefined where there is no driver. */
export const nodeLane = (file: string): Lane | undefined => {
  const driver = findLane('lavapipe')
  if (driver === undefined) return undefined
  useLane(driver)
  let child: ChildProcess | undefined
  const ask = async <A>(asked: Ask): Promise<A> => {
    child ??= await started(file)
    const process = child
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the process of the lane ended'))
      process.once('exit', ended)
      process.once('message', (m: { readonly answer?: A; readonly error?: string }) => {
        process.off('exit', ended)
        if (m.error === undefined) resolve(m.answer!)
        else reject(new Error(m.error))
      })
      process.send(asked)
    })
  }
  const stop = (): void => {
    child?.removeAllListeners()
    child?.kill('SIGKILL')
    child = undefined
  }
  return {
    name: 'Node, Dawn, lavapipe',
    adapter: () => ask({ kind: 'adapter' }),
    row: async (id, options) => {
      const row = await ask<Row>({ kind: 'row', id, options })
      if (stuck(row)) stop()
      return row
    },
    close: async () => stop(),
  }
}

const started = (file: string): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let said = ''
    child.stderr?.on('data', (text) => {
      said += text
    })
    child.once('exit', () => reject(new Error(`the lane does not start: ${said.slice(-500)}`)))
    child.once('message', () => {
      child.removeAllListeners('exit')
      resolve(child)
    })
  })
