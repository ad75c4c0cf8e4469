/** The language service as the page sees it: the same functions, with promises. */
import { painted } from '../painted.js'
import type { Language } from './service.js'
import type { Answer, Question } from './worker.js'

export type Later<T> = { readonly [K in keyof T]: T[K] extends (...a: infer A) => infer R ? (...a: A) => Promise<R> : never }

/** The compiler in a worker; its first answer waits for it to start. */
export const laterLanguage = (): Later<Language> => {
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  const starting = painted().then(() => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    worker.addEventListener('message', ({ data: { id, answer } }: MessageEvent<Answer>) => {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    })
    return worker
  })
  const asking =
    (ask: keyof Language) =>
    (...given: readonly unknown[]): Promise<unknown> =>
      new Promise((resolve) => {
        const id = ++last
        waiting.set(id, resolve)
        void starting.then((worker) => worker.postMessage({ id, ask, given } satisfies Question))
      })
  return {
    problems: asking('problems'),
    hover: asking('hover'),
    suggestions: asking('suggestions'),
    details: asking('details'),
  } as Later<Language>
}
