/** A list of tabs over one panel, by keyboard too: arrows, Home and End. */
import { html } from './dom.js'

/** Fills `list` with a tab for each name; `chosen` hears which one is to be shown. The result chooses one. */
export const newTabs = <Name extends string>(
  list: HTMLElement,
  panel: HTMLElement,
  names: readonly Name[],
  chosen: (name: Name) => void,
): ((name: Name) => void) => {
  const tabs = names.map((name) => {
    const tab = html('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': panel.id }, name)
    tab.addEventListener('click', () => choose(name))
    return tab
  })
  let current = 0
  const choose = (name: Name): void => {
    current = names.indexOf(name)
    tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === current))
      tab.tabIndex = i === current ? 0 : -1
    })
    panel.setAttribute('aria-labelledby', `tab-${name}`)
    chosen(name)
  }
  list.append(...tabs)
  // Keys scroll it.
  panel.tabIndex = 0
  list.addEventListener('keydown', (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -current, End: names.length - 1 - current }[e.key]
    if (step === undefined) return
    const at = (current + step + names.length) % names.length
    choose(names[at]!)
    tabs[at]!.focus()
    e.preventDefault()
  })
  return choose
}
