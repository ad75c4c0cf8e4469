/** The table of operators: a row for each, which says from which version on it is read, and how. What writes a program as nodes finds its operator here too. */
import type { Table } from '../call.js'
import { controls } from './control.js'
import { convolutions } from './conv.js'
import { elementwise } from './elementwise.js'
import { indexing } from './indexing.js'
import { linear } from './linear.js'
import { normalisations } from './norm.js'
import { quantised } from './quantised.js'
import { recurrents } from './recurrent.js'
import { reductions } from './reduce.js'
import { sequences } from './sequence.js'
import { shapes } from './shape.js'
import { signals } from './signal.js'
import { training } from './training.js'
import { vision } from './vision.js'

export const table: Table = {
  ...elementwise,
  ...shapes,
  ...reductions,
  ...linear,
  ...convolutions,
  ...normalisations,
  ...indexing,
  ...recurrents,
  ...controls,
  ...quantised,
  ...vision,
  ...signals,
  ...sequences,
  ...training,
}
