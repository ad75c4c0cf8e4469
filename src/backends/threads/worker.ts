/** What another thread runs, as the text that Node and browsers begin one from: so that no bundler has to know of a second file. */

/** A kernel of the table, by the module that exports it. */
export interface Told {
  readonly index: number
  readonly module: WebAssembly.Module
  readonly name: string
}
/** What a thread is told: at first with what it shares, later with kernels that came and places that are vacant. */
export interface Message {
  readonly begin?: { readonly memory: WebAssembly.Memory; readonly thread: number; readonly driver: WebAssembly.Module }
  readonly kernels: readonly Told[]
  readonly gone: readonly number[]
}

/**
 * It handles messages one by one, and between them takes parts until there is another message. What ends it within a part is told by a word that the caller reads; the part counts as
 * done, so that nobody waits for it. `failed` and `done` are the addresses of these words.
 */
export const workerText = (failed: number, done: number): string => `
'use strict'
const port = typeof require === 'function' ? require('node:worker_threads').parentPort : self
let memory, table, work, thread, version = 0
const unused = new Proxy({}, { get: () => () => { throw new Error('a kernel of another thread calls into JavaScript') } })
const instances = new WeakMap()
const exportsOf = (module) => {
  let made = instances.get(module)
  if (made === undefined) {
    const js = {}
    for (const { module: from, name } of WebAssembly.Module.imports(module)) if (from === 'js') js[name] = unused[name]
    made = new WebAssembly.Instance(module, { env: { memory, table }, js, Math }).exports
    instances.set(module, made)
  }
  return made
}
const on = ({ begin, kernels, gone }) => {
  if (begin !== undefined) {
    memory = begin.memory
    thread = begin.thread
    table = new WebAssembly.Table({ initial: 64, element: 'anyfunc' })
    work = exportsOf(begin.driver).work
  }
  for (const index of gone) if (index < table.length) table.set(index, null)
  for (const { index, module, name } of kernels) {
    if (index >= table.length) table.grow(Math.max(table.length, index + 1 - table.length))
    table.set(index, exportsOf(module)[name])
  }
  version++
  try {
    work(thread, version)
  } catch (e) {
    const words = new Int32Array(memory.buffer)
    Atomics.store(words, ${failed / 4}, 1)
    Atomics.add(words, ${done / 4}, 1)
    throw e
  }
}
if (port.on) port.on('message', on)
else port.onmessage = (e) => on(e.data)
`
