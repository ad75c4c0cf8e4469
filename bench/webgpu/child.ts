// A process that runs the bundle through Dawn: `tsx child.ts bundle`. Rows are asked for, and answered, by messages.
import { pathToFileURL } from 'node:url'
import type { WorkloadId } from '../peer.js'
import type { RowOptions } from './page.js'

export type Ask = { readonly kind: 'row'; readonly id: WorkloadId; readonly options: RowOptions } | { readonly kind: 'adapter' }

const dawn = await import('webgpu')
Object.assign(globalThis, dawn.globals)
const gpu = dawn.create(['backend=vulkan'])
// What the peers look for in a browser.
Object.defineProperty(globalThis, 'window', { value: { document: {} }, configurable: true })
Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'Node', hardwareConcurrency: 1 }, configurable: true })
await import(pathToFileURL(process.argv[2]!).href)

process.on('message', (ask: Ask) => {
  void (ask.kind === 'adapter' ? codualBench.adapter() : codualBench.row(ask.id, ask.options)).then(
    (answer) => process.send?.({ answer }),
    (e: unknown) => process.send?.({ error: String(e) }),
  )
})
process.send?.({ ready: true })
