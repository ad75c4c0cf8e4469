// The backend tests of ONNX, written by its authors: models with inputs and the outputs that they define. None gives another value, and what is refused is listed with its reason.
import { describe, expect, it } from 'vitest'
import { cpu, reference } from '../../src/index.js'
import { table } from '../../src/onnx/operators/index.js'
import { LATEST } from '../../src/onnx/run.js'
import { some } from '../depth.js'
import { type Case, casesOf } from './cases.js'
import { type Outcome, outcomeOf } from './outcome.js'

/** What is refused, and what the error says. */
const refused: readonly (readonly [cases: RegExp, says: RegExp])[] = [
  [/^node\/bernoulli/, /no operator (Bernoulli|RandomUniformLike): it draws random numbers/],
  [/^node\/training_dropout(_default|_mask|_default_mask)?$/, /it draws random numbers in training mode/],
  [
    /_(to_STRING|STRING_to)|^node\/(string|regex|strnormalizer)|^simple\/strnorm|^node\/equal_string|^node\/ai_onnx_ml_label_encoder_(string|tensor)/,
    /string, which codual does not compute/,
  ],
  [/^node\/tfidfvectorizer/, /no operator TfIdfVectorizer: it works on texts/],
  [/^node\/image_decoder/, /no operator ImageDecoder: it reads files of images/],
  [/^node\/ai_onnx_ml/, /no operator ai\.onnx\.ml\.|string, which codual/],
  [/^node\/flexattention(?!.*_expanded)/, /no operator ai\.onnx\.preview\.FlexAttention/],
  [/^node\/(linear_attention|causal_conv_with_state)(?!.*_expanded)/, /no operator (LinearAttention|CausalConvWithState)/],
  [/^node\/bitcast/, /no operator BitCast/],
  [/^simple\/gradient_of/, /no operator ai\.onnx\.preview\.training\.Gradient: codual differentiates the whole model/],
]
/** Where the expected numbers are not what ONNX defines, or were written with few digits: how far from them ours may be, and why. */
const loose: readonly (readonly [cases: RegExp, tolerance: number, why: string])[] = [
  [/^node\/(blackman|hamming|hann)window/, 1e-4, '1.12 made the numbers with 3.1415 for pi'],
  [/^node\/(gridsample_bicubic$|roialign_aligned|averagepool_2d_ceil_last)/, 2e-4, 'the numbers were written with four digits'],
  [/^node\/cast(like)?_FLOAT_to_BFLOAT16/, 2 ** -8, '1.12 cuts numbers to bfloat16; later versions round, as the definition says'],
  [/^node\/adam_multiple$/, 4e-3, 'the numbers were made with an epsilon of 1e-2, which the node does not have: it has the standard 1e-6'],
]
/** Of these no number is near. */
const otherMeaning: readonly (readonly [cases: RegExp, why: string])[] = [
  [
    /^node\/resize_downsample_scales_(cubic|linear)_align_corners$/,
    'length_resized is 2.4 in the numbers, where the definition has the length of the result, 2; onnxruntime leaves these cases out too',
  ],
  [
    /^node\/roialign_mode_max$/,
    'the largest weighted neighbour in the numbers, where the definition has the largest of the samples between neighbours',
  ],
]
const toleranceOf = (c: Case): number => loose.find(([pattern]) => pattern.test(c.name))?.[1] ?? 1e-5
const expectedOf = (c: Case): 'passed' | 'refused' | 'wrong' =>
  refused.some(([pattern]) => pattern.test(c.name))
    ? 'refused'
    : otherMeaning.some(([pattern]) => pattern.test(c.name))
      ? 'wrong'
      : 'passed'

const summary = (name: string, outcomes: readonly Outcome[]): string => {
  const count = (tag: Outcome['tag']): number => outcomes.filter((o) => o.tag === tag).length
  return `${name}: of ${outcomes.length} cases ${count('passed')} passed, ${count('refused')} were refused, ${count('wrong')} have another meaning`
}

for (const [version, passing, few] of [
  ['1.12', 1013, 100],
  ['1.23', 1754, 160],
] as const) {
  const { cases } = casesOf(version)
  const tried = some(cases, few)
  describe(`the backend tests of ONNX ${version}`, () => {
    for (const [name, backend] of Object.entries({ cpu: cpu(), reference: reference() }))
      it(`give the expected values or say why not: ${name}`, () => {
        const outcomes = tried.map((c) => outcomeOf(c, backend, toleranceOf(c)))
        console.log(summary(`ONNX ${version}, ${name}`, outcomes))
        const unexpected = tried.flatMap((c, i) => {
          const o = outcomes[i]!
          const says = refused.find(([pattern]) => pattern.test(c.name))?.[1]
          if (o.tag !== expectedOf(c)) return [`${c.name}: ${o.tag}: ${'reason' in o ? o.reason : ''}`]
          return o.tag === 'refused' && says?.test(o.reason) === false ? [`${c.name} says ${o.reason}`] : []
        })
        expect(unexpected).toEqual([])
      })

    it(`are read but for those that the lists name: ${passing} of ${cases.length}`, () => {
      expect(cases.filter((c) => expectedOf(c) === 'passed').length).toBe(passing)
    })
  })
}

describe('the lists of what differs', () => {
  const all = (['1.12', '1.23'] as const).flatMap((version) => casesOf(version).cases)
  it('name cases that exist', () => {
    const patterns = [...refused, ...loose, ...otherMeaning].map(([pattern]) => pattern)
    expect(patterns.filter((pattern) => !all.some((c) => pattern.test(c.name)))).toEqual([])
  })
})

describe('the table of operators', () => {
  /** Operators of ai.onnx up to operator set 28 that have no row: they draw random numbers, work on texts, files or bits, or are not written yet. */
  const missing = [
    ...['Bernoulli', 'Multinomial', 'RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike'],
    ...['ImageDecoder', 'RegexFullMatch', 'StringConcat', 'StringNormalizer', 'StringSplit', 'TfIdfVectorizer'],
    ...['BitCast', 'CausalConvWithState', 'LinearAttention', 'MaxRoiPool'],
  ]
  it('has 187 of the 203 operators of ai.onnx, deprecated ones among them', () => {
    expect(Object.keys(table).filter((name) => !name.includes('.')).length).toBe(203 - missing.length)
    expect(missing.filter((name) => Object.hasOwn(table, name))).toEqual([])
  })

  it('has ascending versions, none beyond those that are read', () => {
    for (const { since } of Object.values(table)) {
      expect([...since].sort((a, b) => a - b)).toEqual(since)
      expect(since.at(-1)! <= LATEST).toBe(true)
    }
  })
})
