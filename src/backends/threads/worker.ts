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

/** The addresses of words in the memory. `part`, where a thread has the number of its part, is an expression of `thread`. */
export interface Places {
  readonly failed: number
  readonly done: number
  readonly returned: number
  readonly part: string
}
/**
 * It handles messages one by one, and between them takes parts until there is another message. What ends it within a part is told by a word that the caller reads; the part counts as
 * done, so that nobody waits for it. A part that calls into JavaScript goes back to the caller, who has the functions.
 */
export const workerText = ({ failed, done, returned, part }: Places): string => `
'use strict'
const port = typeof require === 'function' ? require('node:worker_threads').parentPort : self
let memory, table, work, thread, version = 0
const ABSENT = new Error('a function of another thread')
const absent = () => { throw ABSENT }
const instances = new WeakMap()
const exportsOf = (module) => {
  let made = instances.get(module)
  if (made === undefined) {
    const js = {}
    for (const { module: from, name } of WebAssembly.Module.imports(module)) if (from === 'js') js[name] = absent
    made = new WebAssembly.Instance(module, { env: { memory, table }, js }).exports
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
  const words = new Int32Array(memory.buffer)
  for (let going = true; going; ) {
    going = false
    try {
      work(thread, version)
    } catch (e) {
      going = e === ABSENT
      const part = words[(${part}) / 4]
      if (going) Atomics.or(words, ${returned / 4} + (part >> 5), 1 << (part & 31))
      else Atomics.store(words, ${failed / 4}, 1)
      Atomics.add(words, ${done / 4}, 1)
      if (!going) throw e
    }
  }
}
if (port.on) port.on('message', on)
else port.onmessage = (e) => on(e.data)
`
