/** Options of reductions, scans, activations and layers that exist but say nothing: the error names the option or what may stand there. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../../src/index.js'

type Loose = (...args: readonly unknown[]) => unknown
const ops = cd as unknown as Readonly<Record<string, Loose>>
const x = cd.tensor([
  [1, 2],
  [3, 4],
])
const image = cd.tensor([
  [
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
  ],
])
const line = cd.tensor([[[1, 2, 3, 4]]])
const kernel = cd.tensor([[[[1, 1]]]])

const rows: readonly (readonly [name: string, args: readonly unknown[], message: RegExp])[] = [
  ...['sum', 'prod', 'max', 'min', 'mean', 'argmax', 'variance', 'std', 'norm', 'logsumexp', 'any', 'count'].map(
    (name) => [name, [x, { keepdims: 'yes' }], /keepdims must be true or false, not 'yes'/] as const,
  ),
  ['sum', [x, { axis: [0, 'q'] }], /axis 'q' is not a whole number/],
  ['sum', [x, { axis: [1, -1] }], /axes \[1, -1\] name an axis twice/],
  ['softmax', [x, { axis: null }], /axis null is not a whole number/],
  ['layerNorm', [x, { eps: '1' }], /eps must be a number, not '1'/],
  ['batchNorm', [x, { eps: null }], /eps must be a number, not null/],
  ['variance', [x, { ddof: null }], /ddof must be a number, not null/],
  ['norm', [x, { ord: 'fro' }], /order 'fro' is not a norm/],
  ['norm', [x, { ord: '3' }], /order '3' is not a norm/],
  ['cumsum', [x, { reverse: 1 }], /reverse must be true or false, not 1/],
  ['cumprod', [x, { exclusive: null }], /exclusive must be true or false, not null/],
  ['linearRecurrence', [x, x, { reverse: 'x' }], /reverse must be true or false/],
  ['sort', [x, { descending: 'x' }], /descending must be true or false/],
  ['topk', [x, Symbol('k')], /k = a symbol of 2 elements/],
  ['topk', [x, 1, { descending: true }], /there is no option descending/],
  ['gelu', [x, { approximate: 'erf' }], /approximate must be true or false, not 'erf'/],
  ['leakyRelu', [x, { slope: '1' }], /slope must be a number/],
  ['elu', [x, { alpha: [1] }], /alpha must be a number, not \[1\]/],
  ['crossEntropy', [x, x, { reduction: 'avg' }], /'avg' is not a reduction/],
  ['crossEntropy', [x, x, { reduction: 'toString' }], /'toString' is not a reduction/],
  ['dropout', [x, true, null], /rate null is not a probability/],
  ['dropout', [x, true, '0.5'], /rate '0.5' is not a probability/],
  ['polygamma', [[1], 1], /n is \[1\]/],
  ['map', [3, x], /f must be a function, not 3/],
  ['conv', [image, kernel, { stride: [1, 2, 3] }], /stride \[1, 2, 3\] is not one or two positive integers/],
  ['conv', [image, kernel, { dilation: 0 }], /dilation 0 is not one or two positive integers/],
  ['conv', [line, cd.tensor([[[1, 1]]]), { stride: [2, 2] }], /stride \[2, 2\] is not a positive integer/],
  ['conv', [image, kernel, { padding: [[1, 2, 3], [4]] }], /padding an array of 2 is not understood/],
  ['conv', [image, kernel, { padding: 'full' }], /padding 'full' is not understood/],
  ['conv', [image, kernel, { groups: '1' }], /groups must be a whole number, not '1'/],
  ['maxPool', [image], /window undefined is not one or two positive integers/],
  ['maxPool', [image, { window: 2, countIncludePad: true }], /there is no option countIncludePad/],
  ['avgPool', [image, { window: 2, countIncludePad: 1 }], /countIncludePad must be true or false, not 1/],
  ['maxPool', [image, { window: 2, ceilMode: 1 }], /ceilMode must be true or false, not 1/],
  ['crossEntropy', [x, [0, 1], { ignoreIndex: '0' }], /ignoreIndex must be a whole number, not '0'/],
  ['avgPool', [line, { window: 2, stride: [null] }], /stride an array of 1 is not a positive integer/],
]

describe('options that say nothing', () => {
  it.each(rows.map(([name, args, message]) => ({ name, args, message })))('$name: $message', ({ name, args, message }) => {
    let error: unknown
    try {
      ops[name]!(...args)
    } catch (e) {
      error = e
    }
    expect(cd.isAdException(error), String(error)).toBe(true)
    const { _tag, where } = (error as { readonly error: { readonly _tag: string; readonly where: string } }).error
    expect([_tag, where]).toEqual(['BadInput', name])
    expect((error as Error).message).toMatch(message)
  })
})
