/** A process that tries mistakes one after the other, each in a library of its own, for the one that asked (run.ts). */
import { join } from 'node:path'
import { spread } from '../../depth.js'
import type { RandomProgram } from '../../laws/generator/program.js'
import { edited, pathOf, root } from '../../mutants/edit.js'
import { compiled, load, modulesOf } from '../../mutants/modules.js'
import { answering } from '../../mutants/workers.js'
import { foundBy } from './found.js'
import { mutants } from './list.js'
import type { Mutant } from './mutant.js'
import type * as Subject from './subject.js'

/** Who found it, and what. */
export interface Verdict {
  readonly by: 'rules' | 'functions' | 'operators' | 'others' | 'programs' | 'nobody' | 'time'
  readonly what: string
  readonly ms: number
}
/** A position in the list, or the library as it is; how long random programs are tried, in time of the processor (0: neither these nor other primitives). */
export interface Task {
  readonly at: number | 'whole'
  readonly programsMs: number
  /** Of how many functions the library as it is is tried; of all by default. */
  readonly functions?: number | undefined
}

/** Random programs drawn, of which each mistake gets those that reach it. */
const MANY = 400
const entry = join(root, 'test/rules/mutants/subject.ts')
void answering(async () => {
  const modules = await modulesOf('test/laws', 'test/rules/mutants')
  const whole = load(modules, entry) as typeof Subject
  let drawn: readonly Subject.Reaching[] | undefined
  /** Programs drawn by the library as it is: those that reach one of these primitives, or those with operators in them. */
  const reaching = (names: ReadonlySet<string>, higher: boolean): readonly RandomProgram[] => {
    drawn ??= whole.programs(1, MANY)
    return drawn
      .filter(({ program, reached }) => (higher ? program.kind === 'higher' : names.size === 0 || [...names].some((n) => reached.has(n))))
      .map(({ program }) => program)
  }
  const tried = (mutant: Mutant | undefined, { programsMs, functions }: Task): Omit<Verdict, 'ms'> => {
    let own: typeof Subject
    try {
      const other = mutant && { path: pathOf(mutant), module: compiled(edited(mutant), pathOf(mutant)) }
      own = load(modules, entry, other) as typeof Subject
    } catch (e) {
      // The checker cannot even be loaded: whoever runs anything sees it.
      return { by: 'rules', what: `throws when loaded: ${(e as Error).message}` }
    }
    const concerned = mutant?.primitives ?? []
    const finder = mutant && foundBy[mutant.name]
    const known = finder === undefined ? undefined : own.byFunctions((name) => name === finder)
    if (known !== undefined) return { by: 'functions', what: known }
    const some = functions === undefined ? undefined : spread(own.functionNames, functions)
    const ways = [
      ['rules', () => own.byRules(concerned)],
      ['functions', () => own.byFunctions((name) => some?.includes(name) ?? true)],
      ['operators', () => own.byOperators()],
      ...(programsMs > 0 ? ([['others', () => own.byOthers(concerned)]] as const) : []),
    ] as const
    // What is wrong with operators is seen by operators, and what has no primitive of its own by its laws.
    const first = ['operators', 'draws', 'zeros of arrays', 'not passed on'].includes(mutant?.kind ?? '') ? 'operators' : 'rules'
    for (const [by, way] of [...ways].sort((a, b) => Number(b[0] === first) - Number(a[0] === first))) {
      const what = way()
      if (what !== undefined) return { by, what }
    }
    if (programsMs === 0) return { by: 'nobody', what: 'alive' }
    const programs = reaching(new Set(mutant?.file.startsWith('rules/') ? concerned : []), mutant?.file.includes('operators/') ?? false)
    const before = process.cpuUsage()
    const late = (): boolean => process.cpuUsage(before).user > 1000 * programsMs
    const found = own.byPrograms(programs, late)
    return found === undefined ? { by: 'nobody', what: 'alive' } : { by: 'programs', what: found }
  }
  return (task: Task): Verdict => {
    const t = performance.now()
    const made = tried(task.at === 'whole' ? undefined : mutants[task.at]!, task)
    return { ...made, ms: performance.now() - t }
  }
})
