/** A process that tries faults of the planner one after the other, each in a library of its own. */
import { join } from 'node:path'
import { edited, pathOf, root } from '../../mutants/edit.js'
import { compiled, load, modulesOf } from '../../mutants/modules.js'
import { answering } from '../../mutants/workers.js'
import { isLooping, mutants } from './list.js'
import type * as Subject from './subject.js'

/** A position in the list, or the planner as it is; how many random programs are tried. */
export interface Task {
  readonly at: number | 'whole'
  readonly runs: number
}
export interface Answer {
  readonly killed: boolean
  readonly what: string
  readonly ms: number
}

const entry = join(root, 'test/plan/mutants/subject.ts')
void answering(async () => {
  const modules = await modulesOf('test/laws', 'test/plan/mutants')
  const tried = ({ at, runs }: Task): string | undefined => {
    const mutant = at === 'whole' ? undefined : mutants[at]!
    let own: typeof Subject
    try {
      const other = mutant && { path: pathOf(mutant), module: compiled(edited(mutant), pathOf(mutant)) }
      own = load(modules, entry, other) as typeof Subject
    } catch (e) {
      // The planner cannot even be loaded: whoever runs anything sees it.
      return `throws when loaded: ${(e as Error).message}`
    }
    return own.killedBy(runs, mutant !== undefined && isLooping(mutant), mutant?.seed)
  }
  return (task: Task): Answer => {
    const t = performance.now()
    const what = tried(task)
    return { killed: what !== undefined, what: what ?? 'survived', ms: performance.now() - t }
  }
})
