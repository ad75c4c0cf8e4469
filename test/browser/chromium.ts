/** The browser of the tests: Debian's Chromium, headless, with WebGPU on SwiftShader; and the page, built and served on localhost. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { build, type PreviewServer, preview } from 'vite'

const executable = process.env.CODUAL_CHROMIUM ?? '/usr/bin/chromium'
export const hasChromium = existsSync(executable)
/** Why the tests do not run here, and what to do. */
export const howToHave = `no Chromium at ${executable}: npm run webgpu:drivers -- --chromium (Debian), or set CODUAL_CHROMIUM to the program of one.`

/** Without these, Chromium asks hosts of its maker for updates at every start. */
const quiet = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable,
    headless: true,
    chromiumSandbox: false,
    args: [...quiet, '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
    timeout: 120_000,
  })

/** Builds the page of an example and serves it, under a policy that forbids code from strings. */
export const servePage = async (example = 'browser'): Promise<{ readonly server: PreviewServer; readonly address: string }> => {
  const root = fileURLToPath(new URL(`../../examples/${example}/`, import.meta.url))
  const configFile = `${root}vite.config.ts`
  await build({ root, configFile, logLevel: 'error' })
  const server = await preview({
    root,
    configFile,
    logLevel: 'error',
    preview: {
      host: '127.0.0.1',
      port: 0,
      headers: { 'Content-Security-Policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:" },
    },
  })
  const address = server.resolvedUrls?.local[0]
  if (address === undefined) throw new Error('the page is not served')
  return { server, address }
}
