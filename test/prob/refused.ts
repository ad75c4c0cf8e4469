import { isAdException } from '../../src/index.js'

/** The message of what refuses. */
export const refused = (run: () => unknown): string => {
  try {
    run()
  } catch (e) {
    if (isAdException(e)) return (e as Error).message
    throw e
  }
  return 'nothing was refused'
}
