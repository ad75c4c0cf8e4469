/** Workers and ports, of browsers and of Node, as one thing: what messages go through. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { holds } from '../../core/errors/language.js'
import type { TypedArray } from '../../core/graph/ndarray.js'

/** A `Worker` of a browser or of Node, or a `MessagePort`. */
export interface Channel {
  readonly postMessage: (message: unknown) => void
}

type Listener = (event: { readonly data?: unknown; readonly message?: unknown }) => void
/** What such objects have beside that: those of Node emit values, the others events. */
interface Parts {
  readonly postMessage: (message: unknown, transfer?: readonly ArrayBuffer[]) => void
  readonly on?: (event: string, listener: (value: unknown) => void) => void
  readonly addEventListener?: (event: string, listener: Listener) => void
  readonly start?: () => void
  readonly terminate?: () => unknown
  readonly close?: () => void
  readonly ref?: () => void
  readonly unref?: () => void
}

/** What is told of a channel. */
export interface Heard {
  readonly message: (data: unknown) => void
  /** Nothing comes any more; why, where that is known. */
  readonly ended: (reason: string) => void
}
/** A channel whose messages are heard. */
export interface Open {
  readonly post: (message: unknown, transfer?: readonly ArrayBuffer[]) => void
  /** Does the process wait for it? */
  readonly hold: (held: boolean) => void
  readonly end: () => void
}

/** The buffers of arrays that are given away; each once. */
export const buffersOf = (arrays: readonly TypedArray[]): readonly ArrayBuffer[] => [...new Set(arrays.map((a) => a.buffer as ArrayBuffer))]

/** Is it something that messages go through? */
export const isChannel = (x: unknown): x is Channel =>
  holds(() => {
    const { postMessage, on, addEventListener } = (typeof x === 'object' && x !== null ? x : {}) as Partial<Parts>
    return typeof postMessage === 'function' && (typeof on === 'function' || typeof addEventListener === 'function')
  })

/** Hears a channel from now on. */
export const opened = (given: unknown, where: string, { message, ended }: Heard): Open => {
  if (!isChannel(given))
    return badInput(
      where,
      `${shown(given)} is not a worker.`,
      "give a Worker, as new Worker(new URL('./worker.js', import.meta.url)), or a MessagePort.",
    )
  const channel = given as Parts
  if (channel.on !== undefined) {
    channel.on('message', message)
    channel.on('error', (e) => ended(e instanceof Error ? e.message : String(e)))
    channel.on('messageerror', () => ended('a message of it cannot be read'))
    channel.on('exit', (code) => ended(`exit code ${String(code)}`))
    channel.on('close', () => ended('its port was closed'))
  } else {
    channel.addEventListener!('message', (e) => message(e.data))
    channel.addEventListener!('error', (e) =>
      ended(typeof e.message === 'string' && e.message !== '' ? e.message : 'its script did not load'),
    )
    channel.addEventListener!('messageerror', () => ended('a message of it cannot be read'))
    channel.addEventListener!('close', () => ended('its port was closed'))
    channel.start?.()
  }
  return {
    post: (m, transfer) => channel.postMessage(m, transfer ?? []),
    hold: (held) => (held ? channel.ref?.() : channel.unref?.()),
    end: () => void (channel.terminate === undefined ? channel.close?.() : channel.terminate()),
  }
}
