/** What random programs gave, in words. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import type { ProgramsChecked } from './for-all-programs.js'

const WIDTH = 130
const short = (line: string): string => (line.length > WIDTH ? `${line.slice(0, WIDTH)} ...` : line)
/** Lines of equations that are shown. */
const LINES = 5

const given = (c: ProgramsChecked): ProgramsChecked =>
  c?._tag === 'Right' || c?._tag === 'Left'
    ? c
    : badInput('reportPrograms', `${shown(c)} is not the result of random programs.`, 'give what forAllPrograms gives.')

/**
 * A result of forAllPrograms in at most ten lines: what was reached; or the primitive to blame, the program, its inputs, the findings, and how to
 * reproduce them.
 *
 * @example reportPrograms(forAllPrograms(coreRegistry, { runs: 3, only: ['sin', 'mul'] }))   // 'ok   3 programs, ...'
 */
export const reportPrograms = (checked: ProgramsChecked): string => {
  const c = given(checked)
  if (c._tag === 'Right') {
    const { runs, steps, comparisons, seed, reached, unreached, without, notImplemented } = c.right
    const all = Object.entries(reached)
    const derived = all.filter(([, r]) => r.derivatives > 0).length
    return [
      `ok   ${runs} programs, ${steps} steps, ${comparisons} comparisons (seed ${seed})`,
      `${all.length - unreached.length} of ${all.length} primitives reached, ${derived} of them in derivatives`,
      ...(unreached.length > 0 ? [`not reached: ${unreached.join(', ')}`] : []),
      ...Object.entries(without).map(([what, names]) => `without ${what}: ${names.join(', ')}`),
      ...(notImplemented.length > 0 ? [`not implemented: ${notImplemented.length} derivatives, such as ${notImplemented[0]}`] : []),
    ]
      .slice(0, 10)
      .map(short)
      .join('\n')
  }
  const { guilty, program, inputs, findings, line, primitives } = c.left
  const equations = program.split('\n')
  const [first] = findings
  return [
    guilty === undefined ? `a program of ${primitives.join(', ')} fails` : `${guilty} fails`,
    ...equations.slice(0, LINES),
    ...(equations.length > LINES ? [`  ... and ${equations.length - LINES} more lines`] : []),
    `inputs: ${inputs.map((x, i) => `x${i} = ${JSON.stringify(x)}`).join(', ')}`,
    ...(first === undefined ? [] : [`${first.check}, ${first.path}[${first.index}]: expected ${first.expected}, got ${first.actual}`]),
  ]
    .map(short)
    .concat(`replay: ${line}`)
    .join('\n')
}
