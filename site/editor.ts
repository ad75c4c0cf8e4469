/** The editor: TypeScript's problems, hovers and completions in CodeMirror, and what the last run gave beside each line. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { typescriptLanguage } from '@codemirror/lang-javascript'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { linter, lintKeymap } from '@codemirror/lint'
import { EditorState, type Range, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  type Tooltip,
  WidgetType,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Later } from './language/client.js'
import type { Language } from './language/service.js'

/** What stands beside lines: values of the run, and where it failed. */
export interface Beside {
  readonly values: ReadonlyMap<number, string>
  readonly fault?: { readonly line: number; readonly message: string }
}
export interface Editor {
  readonly text: () => string
  readonly set: (text: string) => void
  readonly cursorLine: () => number
  readonly beside: (what: Beside) => void
  readonly focus: () => void
}

class Value extends WidgetType {
  constructor(readonly text: string) {
    super()
  }
  override eq(other: Value): boolean {
    return other.text === this.text
  }
  override toDOM(): HTMLElement {
    const span = document.createElement('span')
    span.className = 'cm-value'
    span.textContent = this.text
    return span
  }
}

const setBeside = StateEffect.define<Beside>()
const none: Beside = { values: new Map() }
/** A change of the text drops what stood beside it. */
const besideField = StateField.define<Beside>({
  create: () => none,
  update: (before, tr) => tr.effects.reduce((b, e) => (e.is(setBeside) ? e.value : b), tr.docChanged ? none : before),
  provide: (field) =>
    EditorView.decorations.compute([field, 'doc'], (state): DecorationSet => {
      const { values, fault } = state.field(field)
      const found: Range<Decoration>[] = []
      for (const [line, text] of values) {
        if (line > state.doc.lines) continue
        const { to } = state.doc.line(line)
        found.push(Decoration.widget({ widget: new Value(text), side: 1 }).range(to))
      }
      if (fault !== undefined && fault.line <= state.doc.lines)
        found.push(Decoration.line({ class: 'cm-fault' }).range(state.doc.line(fault.line).from))
      return Decoration.set(found, true)
    }),
})

const kinds: Readonly<Record<string, string>> = {
  const: 'constant',
  let: 'variable',
  function: 'function',
  alias: 'function',
  property: 'property',
  keyword: 'keyword',
}

/** The text of a name's signature and documentation, as elements. */
const documented = (signature: string, text: string): HTMLElement => {
  const box = document.createElement('div')
  box.className = 'cm-documented'
  const code = document.createElement('pre')
  code.textContent = signature
  const words = document.createElement('pre')
  words.className = 'words'
  words.textContent = text
  box.append(code, ...(text === '' ? [] : [words]))
  return box
}

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--ground)', color: 'var(--text)', fontSize: '14px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--quiet)', borderRight: '1px solid var(--grid)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 8%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-value': { color: 'var(--quiet)', paddingLeft: '2em', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', userSelect: 'none' },
  '.cm-value::before': { content: '"→ "' },
  '.cm-fault': { backgroundColor: 'color-mix(in srgb, var(--bad) 16%, transparent)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)', maxWidth: 'min(620px, 90vw)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-documented pre': { margin: 0, whiteSpace: 'pre-wrap', font: '13px/1.5 var(--mono)' },
  '.cm-documented': { padding: '6px 10px', maxHeight: '50vh', overflow: 'auto' },
  '.cm-documented .words': { marginTop: '6px', color: 'var(--quiet)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap' },
})
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--keyword)' },
  { tag: [tags.string, tags.regexp], color: 'var(--string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.comment, color: 'var(--comment)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--accent)' },
])

/** A command that always applies. */
const handled = (act: () => void) => (): boolean => {
  act()
  return true
}

export interface EditorOptions {
  readonly language: Later<Language>
  readonly run: () => void
  readonly stop: () => void
  /** The text changed, or the cursor moved to another line. */
  readonly changed: (what: 'text' | 'line') => void
}

export const newEditor = (parent: HTMLElement, { language, run, stop, changed }: EditorOptions): Editor => {
  const problems = linter(
    async (view) => {
      const text = view.state.doc.toString()
      const found = await language.problems(text)
      if (view.state.doc.toString() !== text) return []
      const { fault } = view.state.field(besideField)
      const line = fault !== undefined && fault.line <= view.state.doc.lines ? view.state.doc.line(fault.line) : undefined
      return [
        ...found.map((p) => ({ ...p, to: Math.min(p.to, text.length) })),
        ...(line === undefined
          ? []
          : [{ from: line.from, to: line.to, severity: 'error' as const, source: 'run', message: fault!.message }]),
      ]
    },
    { delay: 250, needsRefresh: (u) => u.startState.field(besideField).fault !== u.state.field(besideField).fault },
  )
  const hover = hoverTooltip(async (view, at): Promise<Tooltip | null> => {
    const found = await language.hover(view.state.doc.toString(), at)
    if (found === undefined) return null
    return { pos: found.from, end: found.to, above: true, create: () => ({ dom: documented(found.signature, found.text) }) }
  })
  const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w$]*/)!
    const before = context.state.sliceDoc(word.from - 1, word.from)
    if (word.from === word.to && before !== '.' && !context.explicit) return null
    const text = context.state.doc.toString()
    const at = context.pos
    const found = await language.suggestions(text, at)
    return {
      from: word.from,
      validFor: /^[\w$]*$/,
      options: found.map(
        ({ label, kind, source }): Completion => ({
          label,
          type: kinds[kind] ?? 'text',
          boost: source === undefined ? 1 : 0,
          ...(source !== undefined && { detail: source }),
          info: async () => {
            const details = await language.details(text, at, label, source)
            return details === undefined ? null : documented(details.signature, details.text)
          },
          ...(source !== undefined && {
            apply: (view, completion, from, to) => {
              view.dispatch({
                changes: { from, to, insert: label },
                selection: { anchor: from + label.length },
                userEvent: 'input.complete',
              })
              void language.details(text, at, label, source).then((details) => {
                // The import goes in only while what it was made for stands unchanged before the word.
                if (details === undefined || view.state.sliceDoc(0, from) !== text.slice(0, from)) return
                const edits = details.edits.filter((e) => e.to <= from)
                if (edits.length > 0) view.dispatch({ changes: [...edits], userEvent: 'input.complete' })
              })
              void completion
            },
          }),
        }),
      ),
    }
  }
  let line = 1
  // In a tree of its own the editor adopts its style sheets; in the document it would write style elements, which the policy forbids.
  const root = parent.attachShadow({ mode: 'open' })
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: handled(run), preventDefault: true },
          { key: 'Mod-.', run: handled(stop), preventDefault: true },
        ]),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        EditorView.lineWrapping,
        typescriptLanguage,
        syntaxHighlighting(colours),
        autocompletion({ override: [complete] }),
        problems,
        hover,
        besideField,
        theme,
        keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': 'Program in TypeScript', spellcheck: 'false', tabindex: '0' }),
        EditorView.updateListener.of((u) => {
          if (u.docChanged) changed('text')
          const now = u.state.doc.lineAt(u.state.selection.main.head).number
          if (now !== line) {
            line = now
            changed('line')
          }
        }),
      ],
    }),
  })
  return {
    text: () => view.state.doc.toString(),
    set: (text) => {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } })
    },
    cursorLine: () => line,
    beside: (what) => view.dispatch({ effects: setBeside.of(what) }),
    focus: () => view.focus(),
  }
}
