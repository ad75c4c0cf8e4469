/** The table of operators: a row for each, which says from which version on it is read, and how. What writes a program as nodes finds its operator here too. */
import type { Table } from '../call.js'
import { attentions } from './attention.js'
import { controls } from './control.js'
import { convolutions } from './conv.js'
import { deformables } from './deform.js'
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

const draws = 'it draws random numbers, and ONNX does not say which'
const works = 'it works on texts'
/** Why an operator of ONNX has no row. */
export const reasons: Readonly<Record<string, string>> = {
  Bernoulli: draws,
  Multinomial: draws,
  RandomNormal: draws,
  RandomNormalLike: draws,
  RandomUniform: draws,
  RandomUniformLike: draws,
  ImageDecoder: 'it reads files of images',
  RegexFullMatch: works,
  StringConcat: works,
  StringNormalizer: works,
  StringSplit: works,
  TfIdfVectorizer: works,
  BitCast: 'it reads bits as another type',
  CausalConvWithState: 'it is not written yet',
  LinearAttention: 'it is not written yet',
  MaxRoiPool: 'it is not written yet',
  'ai.onnx.preview.training.Gradient': 'codual differentiates the whole model: grad(model.f)',
}

export const table: Table = {
  ...elementwise,
  ...shapes,
  ...reductions,
  ...linear,
  ...convolutions,
  ...deformables,
  ...normalisations,
  ...attentions,
  ...indexing,
  ...recurrents,
  ...controls,
  ...quantised,
  ...vision,
  ...signals,
  ...sequences,
  ...training,
}
