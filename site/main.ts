/** The playground: an editor on one side, and on the other what the program gave. */
import examples from 'virtual:examples'
import { newEditor } from './editor.js'
import { laterLanguage } from './language/client.js'
import { instrument, type Mark } from './run/instrument.js'
import type { FromWorker, Look, Printed, Series } from './run/messages.js'
import { newSession } from './run/session.js'
import { hashOf, programOf } from './share.js'
import { newChart } from './views/chart.js'
import { html } from './views/dom.js'
import { graphView } from './views/graph.js'
import { modesView } from './views/modes.js'
import { numberText, short } from './views/numbers.js'
import { memoryView, planView } from './views/plan.js'
import { valueView } from './views/values.js'

const element = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E
const status = element('status')
const runButton = element<HTMLButtonElement>('run')
const stopButton = element<HTMLButtonElement>('stop')
const gallery = element<HTMLSelectElement>('gallery')
const panel = element('panel')
const tabList = element('tabs')

const say = (text: string, bad = false): void => {
  status.textContent = text
  status.className = bad ? 'bad' : ''
}

// What the current run gave.
let marks: readonly Mark[] = []
let values = new Map<number, Printed>()
/** The marks that the tabs may show something of. */
let looking = new Set<number>()
let fault: { readonly line: number; readonly message: string } | undefined
let output = html('div')
let sliders: Record<string, number> = {}
let running = false
let looks = new Map<number, Promise<Look>>()

const views = ['Output', 'Program', 'Graph', 'Modes', 'Steps', 'Memory', 'Check', 'Plot'] as const
type View = (typeof views)[number]
let view: View = 'Output'

/** The statement under the cursor, that gave a value; else the last of which there is something to show. */
const markAtCursor = (): number | undefined => {
  const line = editor.cursorLine()
  const text = editor.text()
  const known = marks.flatMap((m, i) => (values.has(i) ? [{ m, i }] : []))
  const at = known.findLast(({ m }) => m.line >= line && lineOf(text, m.from) <= line)
  return (at ?? known.findLast(({ i }) => looking.has(i)) ?? known.at(-1))?.i
}
const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length
const nameOf = (mark: number): string => {
  const { name, from, to, line } = marks[mark]!
  const words = name ?? ran.slice(from, to).split('\n')[0]!.slice(0, 60)
  return `Line ${line}: ${words}`
}

// Values and faults beside the lines of the editor; as many messages as there are make one change.
let besideDue = false
const showBeside = (): void => {
  if (besideDue) return
  besideDue = true
  requestAnimationFrame(() => {
    besideDue = false
    if (editor.text() !== ran) return
    const texts = new Map<number, string>()
    for (const [i, value] of values) {
      const isFunction = value.kind === 'text' && value.text.startsWith('function')
      if (!isFunction) texts.set(marks[i]!.line, short(value))
    }
    editor.beside({ values: texts, ...(fault !== undefined && { fault }) })
  })
}

const charts = new Map<string, { readonly chart: ReturnType<typeof newChart>; x: number[]; y: number[] }>()
let plots = 0
const chartOf = (name: string): { readonly chart: ReturnType<typeof newChart>; x: number[]; y: number[] } => {
  const known = charts.get(name)
  if (known !== undefined) return known
  const made = { chart: newChart(), x: [] as number[], y: [] as number[] }
  charts.set(name, made)
  output.append(made.chart.element)
  return made
}
const due = new Set<string>()
const drawCurve = (title: string): void => {
  if (due.size === 0)
    requestAnimationFrame(() => {
      for (const t of due) {
        const { chart, x, y } = chartOf(t)
        chart.draw({ title: t, points: false, x, curves: [{ name: t, y }] })
      }
      due.clear()
    })
  due.add(title)
}
const entry = (...children: readonly (Node | string)[]): void => output.append(html('div', { class: 'entry' }, ...children))

const hear = (message: FromWorker): void => {
  switch (message.kind) {
    case 'told': {
      values.set(message.mark, message.value)
      if (message.looks) looking.add(message.mark)
      const mark = marks[message.mark]!
      if (mark.name === undefined) entry(html('div', { class: 'label' }, nameOf(message.mark)), valueView(message.value))
      showBeside()
      return
    }
    case 'console': {
      const box = html('div', { class: message.level })
      box.append(...message.values.map(valueView))
      entry(box)
      return
    }
    case 'plot':
      chartOf(`plot ${plots++}`).chart.draw(message.series)
      return
    case 'curve': {
      const { x, y } = chartOf(message.title)
      x.push(message.x)
      y.push(message.y)
      drawCurve(message.title)
      return
    }
    case 'slider': {
      showSlider(message.slider.name, message.slider.min, message.slider.max, message.slider.value)
      return
    }
    case 'fault': {
      fault = { line: message.line ?? 1, message: message.message }
      entry(html('pre', { class: 'fault' }, message.message))
      showBeside()
      return
    }
    case 'done': {
      ended()
      say(fault === undefined ? `Ran in ${message.ms.toFixed(0)} ms` : `Stopped by an error in line ${fault.line}`, fault !== undefined)
      void show()
    }
  }
}
const session = newSession(hear)

const sliderRows = new Map<string, HTMLElement>()
const showSlider = (name: string, min: number, max: number, value: number): void => {
  let row = sliderRows.get(name)
  if (row === undefined) {
    const input = html('input', {
      type: 'range',
      min: String(min),
      max: String(max),
      step: String((max - min) / 200),
      value: String(value),
    })
    const out = html('output', {}, numberText(value))
    input.addEventListener('input', () => {
      sliders[name] = Number(input.value)
      out.textContent = numberText(Number(input.value))
      again()
    })
    row = html('label', { class: 'slider' }, name, input, out)
    sliderRows.set(name, row)
  }
  if (!row.isConnected) output.prepend(row)
}
let againDue: number | undefined
const again = (): void => {
  if (againDue !== undefined) return
  againDue = window.setTimeout(() => {
    againDue = undefined
    run(true)
  }, 40)
}

let ran = ''
const ended = (): void => {
  running = false
  stopButton.disabled = true
}
/** Runs what stands in the editor. The sliders stay where they are when one of them moved. */
const run = (keepSliders = false): void => {
  ran = editor.text()
  const read = instrument(ran)
  values = new Map()
  looking = new Set()
  looks = new Map()
  fault = undefined
  charts.clear()
  plots = 0
  output = html('div')
  if (keepSliders) {
    // The row that the pointer holds must stay in the page.
    for (const row of [...sliderRows.values()].reverse()) output.prepend(row)
  } else {
    sliders = {}
    sliderRows.clear()
  }
  if ('message' in read) {
    session.stop()
    marks = []
    fault = read
    entry(html('pre', { class: 'fault' }, `Line ${read.line}: ${read.message}`))
    ended()
    say('This cannot be read as TypeScript.', true)
    editor.beside({ values: new Map(), fault: read })
    void show()
    return
  }
  marks = read.marks
  running = true
  stopButton.disabled = false
  say('Running ...')
  session.run(read, { ...sliders })
  if (view === 'Output') void show()
}
const stop = (): void => {
  if (!running) return
  session.stop()
  ended()
  say('Stopped')
}

const about = (text: string): HTMLElement => html('p', { class: 'about' }, text)
const lookAt = (mark: number): Promise<Look> => {
  const known = looks.get(mark)
  if (known !== undefined) return known
  const asked = session.look(mark)
  looks.set(mark, asked)
  return asked
}

const checkView = (mark: number): HTMLElement => {
  const bar = html('progress', { 'aria-label': 'Checks done', value: '0', max: '1' })
  const button = html('button', { type: 'button', class: 'main' }, 'Check the derivative')
  const found = html('pre', { role: 'status' })
  button.addEventListener('click', () => {
    button.disabled = true
    found.textContent = ''
    found.className = ''
    session
      .check(mark, (done, of) => {
        bar.max = of
        bar.value = done
      })
      .then(
        ({ ok, text }) => {
          found.className = ok ? 'good' : 'fault'
          found.textContent = text
        },
        (e: Error) => {
          found.className = 'fault'
          found.textContent = e.message
        },
      )
      .finally(() => {
        button.disabled = false
      })
  })
  return html(
    'div',
    {},
    about('Every mode, to the second order, against finite differences and the laws of derivatives, at the arguments of this call.'),
    html('div', { class: 'fields' }, button, bar),
    found,
  )
}
const plotView = (mark: number, entries: number): HTMLElement => {
  const field = (label: string, value: string, step: string): readonly [HTMLElement, HTMLInputElement] => {
    const input = html('input', { type: 'number', value, step })
    return [html('label', {}, label, ' ', input), input]
  }
  const [fromLabel, from] = field('from', '-3', 'any')
  const [toLabel, to] = field('to', '3', 'any')
  const [entryLabel, at] = field('entry', '0', '1')
  at.min = '0'
  at.max = String(entries - 1)
  const note = html('p', { class: 'fault', role: 'status' })
  const chart = newChart()
  const draw = (): void => {
    note.textContent = ''
    session.curve(mark, { entry: Number(at.value), from: Number(from.value), to: Number(to.value) }).then(
      ({ x, y, dy }) =>
        chart.draw({
          title: '',
          points: false,
          x,
          curves: [
            { name: 'f', y },
            { name: "f'", y: dy },
          ],
        } satisfies Series),
      (e: Error) => {
        note.textContent = e.message
      },
    )
  }
  for (const input of [from, to, at]) input.addEventListener('change', draw)
  draw()
  return html(
    'div',
    {},
    about('The function and its derivative, where one entry of the arguments moves and the others stay.'),
    html('div', { class: 'fields' }, fromLabel, toLabel, ...(entries > 1 ? [entryLabel] : [])),
    note,
    chart.element,
  )
}

let showing = 0
/** Fills the panel with the chosen view. */
const show = async (): Promise<void> => {
  const turn = ++showing
  if (view === 'Output') {
    panel.replaceChildren(output)
    return
  }
  const mark = markAtCursor()
  if (mark === undefined) {
    panel.replaceChildren(about(running ? 'Running ...' : 'Run the program first.'))
    return
  }
  const head = about(nameOf(mark))
  try {
    const look = await lookAt(mark)
    if (turn !== showing) return
    const note = look.note === undefined ? [] : [about(look.note)]
    panel.replaceChildren(head, ...note, ...bodyOf(view, mark, look))
  } catch (e) {
    if (turn === showing) panel.replaceChildren(head, about((e as Error).message))
  }
}
const code = (title: string, text: string): HTMLElement => html('div', {}, html('h2', {}, title), html('pre', {}, text))
const bodyOf = (of: View, mark: number, { program, derivative, explained, entries }: Look): readonly HTMLElement[] => {
  switch (of) {
    case 'Program':
      return program === undefined
        ? []
        : [
            html(
              'div',
              { class: 'beside' },
              code('Program', program),
              ...(derivative === undefined ? [] : [code(derivative.of, derivative.text)]),
            ),
          ]
    case 'Graph':
      return [
        ...(program === undefined ? [] : [html('h2', {}, 'Program'), graphView(program, explained?.dropped ?? [])]),
        ...(derivative === undefined ? [] : [html('h2', {}, derivative.of), graphView(derivative.text, [])]),
      ]
    case 'Modes':
      return entries === 0 ? [] : [modesView(session.modes(mark))]
    case 'Steps':
      return explained === undefined ? [] : [planView(explained)]
    case 'Memory':
      return explained === undefined ? [] : [memoryView(explained)]
    case 'Check':
      return entries === 0 ? [] : [checkView(mark)]
    case 'Plot':
      return entries === 0 ? [] : [plotView(mark, entries)]
    case 'Output':
      return [output]
  }
}

const tabs = views.map((name) => {
  const tab = html('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel' }, name)
  tab.addEventListener('click', () => choose(name))
  return tab
})
const choose = (name: View): void => {
  view = name
  tabs.forEach((tab, i) => {
    const chosen = views[i] === name
    tab.setAttribute('aria-selected', String(chosen))
    tab.tabIndex = chosen ? 0 : -1
  })
  panel.setAttribute('aria-labelledby', `tab-${name}`)
  void show()
}
tabList.append(...tabs)
// Keys scroll it.
panel.tabIndex = 0
tabList.addEventListener('keydown', (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -views.indexOf(view), End: views.length - 1 - views.indexOf(view) }[e.key]
  if (step === undefined) return
  const at = (views.indexOf(view) + step + views.length) % views.length
  choose(views[at]!)
  tabs[at]!.focus()
  e.preventDefault()
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
    [...values].map(([i, value]) => ({ line: marks[i]!.line, ...(marks[i]!.name !== undefined && { name: marks[i]!.name! }), value })),
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
choose('Output')
window.addEventListener('hashchange', () => {
  session.stop()
  ended()
  void start()
})
void start()
if (import.meta.env.BUILT && 'serviceWorker' in navigator) void navigator.serviceWorker.register('./service.js')
