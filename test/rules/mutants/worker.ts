/** A process that tries mistakes one after the other, each in a library of its own, for the one that asked (run.ts). */
import { join } from 'node:path'
import { edited, pathOf, root } from '../../mutants/edit.js'
import { compiled, load, modulesOf } from './graph.js'
import { mutants } from './list.js'
import type { Mutant } from './mutant.js'
import type * as Subject from './subject.js'

/** Who found it, and what. */
export interface Verdict {
  readonly by: 'rules' | 'functions' | 'others' | 'programs' | 'nobody' | 'time'
  readonly what: string
  readonly ms: number
}
/** A position in the list, or the library as it is; how long random programs are tried. */
export interface Task {
  readonly at: number | 'whole'
  readonly programsMs: number
}
export interface Answer extends Task {
  readonly verdict: Verdict
}

const MANY = 1200
const entry = join(root, 'test/rules/mutants/subject.ts')
const main = async (): Promise<void> => {
  const modules = await modulesOf()
  const whole = load(modules, entry) as typeof Subject
  let drawn: Subject.Reaching[] = []
  /** Programs drawn by the library as it is, more of them as they are asked for. */
  function* reaching(names: ReadonlySet<string>) {
    for (let k = 0; k < MANY; k++) {
      if (k >= drawn.length) drawn = [...drawn, ...whole.programs(drawn.length * 2 + 1, drawn.length * 2 + 101)]
      const p = drawn[k]
      if (p === undefined) return
      if (names.size === 0 || [...names].some((n) => p.reached.has(n))) yield p.program
    }
  }
  const tried = (mutant: Mutant | undefined, programsMs: number): Omit<Verdict, 'ms'> => {
    let own: typeof Subject
    try {
      const other = mutant && { path: pathOf(mutant), module: compiled(edited(mutant), pathOf(mutant)) }
      own = load(modules, entry, other) as typeof Subject
    } catch (e) {
      // The checker cannot even be loaded: whoever runs anything sees it.
      return { by: 'rules', what: `throws when loaded: ${(e as Error).message}` }
    }
    const concerned = mutant?.primitives ?? []
    const ways = [
      ['rules', () => own.byRules(concerned)],
      ['functions', () => own.byFunctions()],
      ['others', () => own.byOthers(concerned)],
    ] as const
    for (const [by, way] of ways) {
      const what = way()
      if (what !== undefined) return { by, what }
    }
    const end = performance.now() + programsMs
    const found = own.byPrograms(reaching(new Set(mutant?.file.startsWith('rules/') ? concerned : [])), () => performance.now() > end)
    return found === undefined ? { by: 'nobody', what: 'alive' } : { by: 'programs', what: found }
  }
  process.on('message', ({ at, programsMs }: Task) => {
    const t = performance.now()
    const made = tried(at === 'whole' ? undefined : mutants[at]!, programsMs)
    const answer: Answer = { at, programsMs, verdict: { ...made, ms: performance.now() - t } }
    process.send?.(answer)
  })
  process.send?.('ready')
}
if (process.argv.includes('--mutants-worker')) void main()
