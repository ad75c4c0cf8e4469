/** The gradient checker as a view: a button, its progress, and what it found. */
import type { Checked } from '../run/session.js'
import { about, html } from './dom.js'

export const checkView = (check: (progress: (done: number, of: number) => void) => Promise<Checked>): HTMLElement => {
  const bar = html('progress', { 'aria-label': 'Checks done', value: '0', max: '1' })
  const button = html('button', { type: 'button', class: 'main' }, 'Check the derivative')
  const found = html('pre', { role: 'status' })
  const tell = (text: string, kind: string): void => {
    found.className = kind
    found.textContent = text
  }
  button.addEventListener('click', () => {
    button.disabled = true
    tell('', '')
    check((done, of) => {
      bar.max = of
      bar.value = done
    })
      .then(
        ({ ok, text }) => tell(text, ok ? 'good' : 'fault'),
        (e: Error) => tell(e.message, 'fault'),
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
