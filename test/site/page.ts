/** The playground, built and served on localhost, and a page of it in Chromium. */
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build, type PreviewServer, preview } from 'vite'

const root = fileURLToPath(new URL('../../site/', import.meta.url))
const configFile = `${root}vite.config.ts`

export const servePlayground = async (): Promise<{ readonly server: PreviewServer; readonly address: string }> => {
  await build({ root, configFile, logLevel: 'error' })
  const server = await preview({ root, configFile, logLevel: 'error', preview: { host: '127.0.0.1', port: 0 } })
  const address = server.resolvedUrls?.local[0]
  if (address === undefined) throw new Error('the playground is not served')
  return { server, address }
}

export interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** What the console and the policy had to complain about. */
  readonly complaints: readonly string[]
  readonly status: () => Promise<string>
  /** Replaces the program by typing. */
  readonly type: (text: string) => Promise<void>
  readonly show: (tab: string) => Promise<string>
  readonly finished: () => Promise<void>
}

export const openPage = async (browser: Browser, address: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  // Chromium gives what is typed over a coloured selection its style as an attribute, which the policy forbids and the editor drops anyway.
  const ofTyping = /inline style violates|^policy: style-src-attr/
  page.on('console', (m) => {
    if ((m.type() === 'error' || m.type() === 'warning') && !ofTyping.test(m.text())) complaints.push(m.text())
  })
  page.on('pageerror', (e) => complaints.push(String(e)))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`))
  })
  await page.goto(address)
  const editor = page.locator('.cm-content')
  return {
    page,
    context,
    complaints,
    status: () => page.locator('#status').innerText(),
    type: async (text) => {
      await editor.click()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.insertText(text)
    },
    show: async (tab) => {
      await page.click(`#tab-${tab}`)
      await page.locator(`#panel[aria-labelledby=tab-${tab}][aria-busy=false]`).waitFor()
      return page.locator('#panel').innerText()
    },
    finished: () => page.locator('#status', { hasText: /Ran in|Stopped/ }).waitFor(),
  }
}
