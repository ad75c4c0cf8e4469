/** The playground's page: an editor on one side, and on the other what the program gave. */
import examples from 'virtual:examples'
import { newEditor } from './editor.js'
import { laterLanguage } from './language/client.js'
import { instrument } from './run/instrument.js'
import type { FromWorker, Look, Printed, Where } from './run/messages.js'
import { newSession } from './run/session.js'
import { markAt, nameOf, newRun } from './run/told.js'
import { hashOf, programOf } from './share.js'
import { about, html } from './views/dom.js'
import { short } from './views/numbers.js'
import { newOutput } from './views/output.js'
import { statementViewNames, statementViews } from './views/statement.js'
import { newTabs } from './views/tabs.js'

const element = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E
const status = element('status')
const runButton = element<HTMLButtonElement>('run')
const stopButton = element<HTMLButtonElement>('stop')
const gallery = element<HTMLSelectElement>('gallery')
const panel = element('panel')
const where = element<HTMLSelectElement>('where')

const say = (text: string, bad = false): void => {
  status.textContent = text
  status.className = bad ? 'bad' : ''
}

let current = newRun('', [])
let running = false

// Values and faults beside the lines of the editor; as many messages as there are make one change.
let besideDue = false
const showBeside = (): void => {
  if (besideDue) return
  besideDue = true
  requestAnimationFrame(() => {
    besideDue = false
    const { text, marks, values, fault } = current
    if (editor.text() !== text) return
    const texts = new Map<number, string>()
    for (const [i, value] of values) {
      const isFunction = value.kind === 'text' && value.text.startsWith('function')
      if (!isFunction) texts.set(marks[i]!.line, short(value))
    }
    editor.beside({ values: texts, ...(fault !== undefined && { fault }) })
  })
}

let againDue: number | undefined
const output = newOutput(() => {
  if (againDue !== undefined) return
  againDue = window.setTimeout(() => {
    againDue = undefined
    run(true)
  }, 40)
})

const hear = (message: FromWorker): void => {
  switch (message.kind) {
    case 'told': {
      current.values.set(message.mark, message.value)
      if (message.looks) current.looking.add(message.mark)
      if (current.marks[message.mark]!.name === undefined) output.value(nameOf(current, message.mark), message.value)
      showBeside()
      return
    }
    case 'console':
      output.console(message.level, message.values)
      return
    case 'plot':
      output.plot(message.series)
      return
    case 'curve':
      output.point(message.title, message.x, message.y)
      return
    case 'slider':
      output.slider(message.slider)
      return
    case 'fault': {
      current.fault = { line: message.line ?? 1, message: message.message }
      output.fault(message.message)
      showBeside()
      return
    }
    case 'done': {
      ended()
      const { fault } = current
      const idle = where.value === 'webgpu' && !/import[^;]*\bbackend\b[^;]*from ['"]playground['"]/.test(current.text)
      const ran = `Ran in ${message.ms.toFixed(0)} ms${idle ? ' on the CPU: the program does not import backend of playground' : ''}`
      say(fault === undefined ? ran : `Stopped by an error in line ${fault.line}`, fault !== undefined)
      void show()
    }
  }
}
const session = newSession(hear)

const ended = (): void => {
  running = false
  stopButton.disabled = true
}
/** Runs the program in the editor. The sliders keep their values when one of them moved. */
const run = (keepSliders = false): void => {
  const text = editor.text()
  const read = instrument(text)
  output.clear(keepSliders)
  if ('message' in read) {
    session.stop()
    current = newRun(text, [], read)
    output.fault(`Line ${read.line}: ${read.message}`)
    ended()
    say('This cannot be read as TypeScript.', true)
    editor.beside({ values: new Map(), fault: read })
    void show()
    return
  }
  current = newRun(text, read.marks)
  running = true
  stopButton.disabled = false
  say('Running ...')
  session.run(read, output.sliders(), where.value as Where)
  if (view === 'Output') void show()
}
const stop = (): void => {
  if (!running) return
  session.stop()
  ended()
  say('Stopped')
}

const views = ['Output', ...statementViewNames] as const
let view: (typeof views)[number] = 'Output'
const lookAt = (mark: number): Promise<Look> => {
  const { looks } = current
  const known = looks.get(mark)
  if (known !== undefined) return known
  const asked = session.look(mark)
  looks.set(mark, asked)
  return asked
}
let showing = 0
/** Fills the panel with the chosen view. */
const show = async (): Promise<void> => {
  const turn = ++showing
  const fill = (...parts: readonly HTMLElement[]): void => {
    if (turn !== showing) return
    panel.replaceChildren(...parts)
    panel.ariaBusy = 'false'
  }
  if (view === 'Output') return fill(output.element())
  const mark = markAt(current, editor.text(), editor.cursorLine())
  if (mark === undefined) return fill(about(running ? 'Running ...' : 'Run the program first.'))
  const head = about(nameOf(current, mark))
  panel.ariaBusy = 'true'
  try {
    const look = await lookAt(mark)
    if (turn !== showing) return
    const note = look.note === undefined ? [] : [about(look.note)]
    fill(head, ...note, ...(await statementViews[view](look, mark, session)))
  } catch (e) {
    fill(head, about((e as Error).message))
  }
}
const choose = newTabs(element('tabs'), panel, views, (name) => {
  view = name
  void show()
})

const language = laterLanguage()
const editor = newEditor(element('editor'), {
  language,
  run: () => run(),
  stop,
  changed: (what) => {
    if (what === 'line' && view !== 'Output') void show()
  },
})
runButton.addEventListener('click', () => run())
if (!('gpu' in navigator)) {
  where.disabled = true
  where.title = 'This browser has no WebGPU.'
}
where.addEventListener('change', () => run())
element('pictures').addEventListener('click', async () => {
  const { openGallery } = await import('./views/gallery.js')
  openGallery(
    examples.map(({ name, text }) => ({ name, title: titleOf(name), text })),
    openExample,
  )
})
stopButton.addEventListener('click', stop)
document.addEventListener('keydown', (e) => {
  if (e.defaultPrevented || !(e.ctrlKey || e.metaKey)) return
  if (e.key === 'Enter') run()
  else if (e.key === '.') stop()
})
element('share').addEventListener('click', async () => {
  const address = new URL(location.href)
  address.hash = await hashOf(editor.text())
  history.replaceState(null, '', address)
  try {
    await navigator.clipboard.writeText(address.href)
    say('The link is copied; it holds the whole program.')
  } catch {
    say('The link stands in the address bar; it holds the whole program.')
  }
})

const titleOf = (name: string): string => name.replace(/^\d+-/, '').replaceAll('-', ' ')
gallery.append(
  html('option', { value: '' }, 'Choose one'),
  ...examples.map((e, i) => html('option', { value: String(i) }, titleOf(e.name))),
)
const openExample = (i: number): void => {
  const found = examples[i]
  if (found === undefined) return
  gallery.value = String(i)
  editor.set(found.text)
  history.replaceState(null, '', location.pathname + location.search)
  run()
}
gallery.addEventListener('change', () => {
  if (gallery.value !== '') openExample(Number(gallery.value))
})

declare global {
  interface Window {
    /** For the console of the browser, and for tests: what the last run gave, by line. */
    playground: { readonly values: () => readonly { readonly line: number; readonly name?: string; readonly value: Printed }[] }
  }
}
window.playground = {
  values: () =>
    [...current.values].map(([i, value]) => {
      const { line, name } = current.marks[i]!
      return { line, ...(name !== undefined && { name }), value }
    }),
}

/** A program from a link stands in the editor and waits: only the page's own examples run by themselves. */
const start = async (): Promise<void> => {
  const given = await programOf(location.hash)
  if (given !== undefined) {
    editor.set(given)
    gallery.value = ''
    say('From a link. Read it, then press Run.')
    void show()
  } else if (location.hash.startsWith('#p=')) {
    say('This link was cut: it holds no whole program.', true)
  } else openExample(0)
}
/** Shows the page with its first program. */
export const open = (): void => {
  choose('Output')
  window.addEventListener('hashchange', () => {
    session.stop()
    ended()
    void start()
  })
  void start()
  if (import.meta.env.BUILT && 'serviceWorker' in navigator) void navigator.serviceWorker.register('./service.js')
}
