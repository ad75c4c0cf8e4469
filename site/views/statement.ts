/** What each view shows of a statement. */
import type { Look } from '../run/messages.js'
import type { Session } from '../run/session.js'
import { checkView } from './check.js'
import { curveView } from './curve.js'
import { html } from './dom.js'
import { modesView } from './modes.js'
import { memoryView, planView } from './plan.js'
import { programView } from './program.js'

/** The views of a statement, in the order of the tabs. */
export const statementViewNames = ['Program', 'Graph', 'Modes', 'Steps', 'Memory', 'Check', 'Plot'] as const
export type StatementView = (typeof statementViewNames)[number]
/** `mark` is the statement, `look` what the worker tells about it. */
type View = (look: Look, mark: number, session: Session) => readonly HTMLElement[] | Promise<readonly HTMLElement[]>

export const statementViews: Readonly<Record<StatementView, View>> = {
  Program: programView,
  Graph: async ({ program, derivative, explained }) => {
    // With the library that lays graphs out.
    const { graphView } = await import('./graph.js')
    return [
      ...(program === undefined ? [] : [html('h2', {}, 'Program'), graphView(program, explained?.dropped ?? [])]),
      ...(derivative === undefined ? [] : [html('h2', {}, derivative.of), graphView(derivative.text, [])]),
    ]
  },
  Modes: ({ entries }, mark, session) => (entries === 0 ? [] : [modesView(session.modes(mark))]),
  Steps: ({ explained }) => (explained === undefined ? [] : [planView(explained)]),
  Memory: ({ explained }) => (explained === undefined ? [] : [memoryView(explained)]),
  Check: ({ entries }, mark, session) => (entries === 0 ? [] : [checkView((progress) => session.check(mark, progress))]),
  Plot: ({ entries }, mark, session) => (entries === 0 ? [] : [curveView(entries, (asked) => session.curve(mark, asked))]),
}
