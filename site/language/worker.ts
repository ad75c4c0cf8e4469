/** The language service in a worker of its own, so that the page never waits for the compiler. */
import files from 'virtual:declarations'
import { type Language, languageOf } from './service.js'

/** A question: the name of a function of Language, and its arguments. */
export interface Question {
  readonly id: number
  readonly ask: keyof Language
  readonly given: readonly unknown[]
}
export interface Answer {
  readonly id: number
  readonly answer: unknown
}

const language = languageOf(files)
addEventListener('message', ({ data: { id, ask, given } }: MessageEvent<Question>) => {
  const answer = (language[ask] as (...given: readonly unknown[]) => unknown)(...given)
  postMessage({ id, answer } satisfies Answer)
})
