/** The gallery: a dialog with a picture of what each example gives. */
import { html } from './dom.js'

const addresses = import.meta.glob<string>('../pictures/*.jpg', { eager: true, query: '?url', import: 'default' })
/** The picture of an example; none for an example that is new. */
const pictureOf = (name: string): string | undefined => addresses[`../pictures/${name}.jpg`]

export interface Shown {
  readonly name: string
  readonly title: string
  readonly text: string
}
/** What the first lines of an example say of it. */
export const aboutExample = (text: string): string => {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join(' ')
}
export const WIDTH = 320
export const HEIGHT = 200

let dialog: HTMLDialogElement | undefined
/** Shows the dialog; `chosen` hears which example is to be opened. */
export const openGallery = (examples: readonly Shown[], chosen: (i: number) => void): void => {
  if (dialog === undefined) {
    const close = html('button', { type: 'button' }, 'Close')
    const cards = examples.map(({ name, title, text }, i) => {
      const picture = pictureOf(name)
      const card = html(
        'button',
        { type: 'button', class: 'card' },
        ...(picture === undefined
          ? []
          : [html('img', { src: picture, alt: '', width: String(WIDTH), height: String(HEIGHT), loading: 'lazy' })]),
        html('span', { class: 'title' }, title),
        html('span', { class: 'about' }, aboutExample(text)),
      )
      card.addEventListener('click', () => {
        dialog?.close()
        chosen(i)
      })
      return html('li', {}, card)
    })
    dialog = html(
      'dialog',
      { id: 'dialog', 'aria-label': 'Gallery of examples' },
      html('div', { class: 'fields' }, html('h2', {}, 'Gallery'), close),
      html('ul', { class: 'cards' }, ...cards),
    )
    close.addEventListener('click', () => dialog?.close())
    document.body.append(dialog)
  }
  dialog.showModal()
}
