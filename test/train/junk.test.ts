/** What no type checker has seen: every function of the entry, with junk in the place of each argument, gives a result or one AdError. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AdError, explain, isAdException, mul, type Tensor, tensor } from '../../src/index.js'
import { sgd } from '../../src/optim/index.js'
import * as entry from '../../src/train/index.js'
import * as node from '../../src/train/node.js'
import { broken } from '../errors/hostile.js'

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const junk: readonly (readonly [label: string, make: () => unknown])[] = [
  ...(
    [
      ['undefined', undefined],
      ['null', null],
      ['{}', {}],
      ['a string', '/no such folder/x'], // as a path it must not make a file
      ['NaN', Number.NaN],
      ['1.5', 1.5],
      ['-7', -7],
      ['1e300', 1e300],
      ['[]', []],
      ['a ragged array', [[1], [2, 3]]],
      ['an array of null', [null]],
      ['true', true],
      ['a function', () => 1],
      ['a symbol', Symbol('s')],
      ['a bigint', 1n],
      ['a cyclic object', cyclic],
      ['a date', new Date(0)],
      ['a map', new Map()],
      ['{ size: 0 }', { size: 0 }],
      ['{ like: 1 }', { like: 1 }],
      ['{ state: 1, epochs: 1 }', { state: 1, epochs: 1 }],
      ['{ state: 1, epochs: null }', { state: 1, epochs: null }],
      ['__proto__', JSON.parse('{ "__proto__": { "x": 1 } }')],
      ['an array without entries', new Array(2 ** 32 - 1)],
    ] as const
  ).map(([label, value]) => [label, () => value] as const),
  ...broken,
]

type Files = Readonly<Record<string, { readonly bytes: string }>>
const filesOf = (name: string): Files => JSON.parse(readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8')) as Files
const [torchFiles, images] = [filesOf('torch-files.json'), filesOf('png.json')]
/** Good values for each argument; one of them at a time is replaced. */
const good: Readonly<Record<string, readonly unknown[]>> = {
  batches: [{ x: [1, 2, 3] }, { size: 1 }],
  splitData: [{ x: [1, 2, 3] }, [1, 2], { seed: 1 }],
  train: [(n: number) => ({ state: n + 1 }), { steps: 2, at: () => 1 }, { state: 0, epochs: 1 }],
  trainEvents: [(n: number) => ({ state: n + 1 }), { steps: 2, at: () => 1 }, { state: 0, epochs: 1 }],
  encodeSafetensors: [{ w: tensor([1]) }, { a: 'b' }],
  decodeSafetensors: [entry.encodeSafetensors({ w: tensor([1]) }), { like: { w: tensor([2]) } }],
  encodeNpy: [tensor([1])],
  decodeNpy: [entry.encodeNpy([1, 2])],
  encodeNpz: [{ w: tensor([1]) }],
  decodeNpz: [entry.encodeNpz({ w: [1, 2] })],
  decodeTorch: [Buffer.from(torchFiles.many!.bytes, 'base64'), { part: 'w1' }],
  decodeIdx: [Uint8Array.from([0, 0, 8, 1, 0, 0, 0, 1, 7])],
  decodePng: [Buffer.from(images.colour!.bytes, 'base64')],
  encodeCheckpoint: [{ state: 1, position: { epoch: 0, step: 0 } }],
  decodeCheckpoint: [entry.encodeCheckpoint({ state: 1, position: { epoch: 0, step: 0 } }), { like: 1 }],
  fit: [
    { init: () => ({ w: tensor(0) }), apply: ({ w }: { w: Tensor<[], 'f64'> }, x: Tensor<[number], 'f64'>) => mul(w, x) },
    { x: [1, 2], y: [2, 4] },
    { loss: 'mseLoss', optimizer: sgd({ learningRate: 0.1 }), epochs: 2 },
  ],
  bucket: [5, [4, 16]],
  padTo: [{ x: tensor([1, 2]) }, 4, { fill: 1 }],
  accuracy: [{ threshold: 0 }],
  topKAccuracy: [1],
  confusion: [{ classes: 3 }],
  precision: [{ classes: 3 }],
  recall: [{ classes: 3 }],
  f1: [{ classes: 3, average: 'micro' }],
  auc: [],
  r2: [{ outputs: 2 }],
  meanSquaredError: [],
  perplexity: [],
  measured: [entry.auc(), [1, 2], [0, 1], [1, 1]],
  save: ['/no such folder/x', { w: tensor([1]) }, { a: 'b' }],
  load: ['/no such folder/x', { like: { w: tensor([1]) } }],
  loadTorch: ['/no such folder/x', { part: 'w1' }],
  saveCheckpoint: ['/no such folder/x', { state: 1, position: { epoch: 0, step: 0 } }],
  loadCheckpoint: ['/no such folder/x', { like: 1 }],
  progressBar: [{ name: 'x' }],
}
const functions: Readonly<Record<string, unknown>> = { ...entry, ...node }

/** What a function gives, run to its end: a task that is a function, every event, every batch. */
const settled = async (x: unknown, name: string): Promise<unknown> => {
  if (name === 'progressBar') return x
  if (typeof x === 'function') return await (x as () => unknown)()
  let last = x
  if (typeof x === 'object' && x !== null && Symbol.asyncIterator in x) for await (last of x as AsyncIterable<unknown>);
  if (name === 'batches') for (last of (x as entry.Batches<unknown>).epoch(0));
  return last
}

describe('junk', () => {
  it('is tried on every function', () => {
    expect(
      Object.keys(functions)
        .filter((name) => typeof functions[name] === 'function')
        .sort(),
    ).toEqual(Object.keys(good).sort())
  })
  it.each(Object.keys(good))('%s', async (name) => {
    const f = functions[name] as (...args: readonly unknown[]) => unknown
    const wrong: string[] = []
    for (const at of good[name]!.keys())
      for (const [label, make] of junk) {
        const what = `${name}, ${label} as argument ${at + 1}`
        try {
          const result = (await settled(f(...good[name]!.map((x, i) => (i === at ? make() : x))), name)) as {
            readonly _tag?: unknown
            readonly left: AdError
            readonly error: AdError
          }
          if (result?._tag === 'Left') expect(explain(result.left).length, what).toBeGreaterThan(10)
          if (result?._tag === 'Failed') expect(explain(result.error).length, what).toBeGreaterThan(10)
        } catch (e) {
          const eager = ![
            'train',
            'trainEvents',
            'fit',
            'save',
            'load',
            'loadTorch',
            'decodeTorch',
            'saveCheckpoint',
            'loadCheckpoint',
            'decodeSafetensors',
            'decodeCheckpoint',
          ].includes(name)
          if (!(eager && isAdException(e))) wrong.push(`${what}: ${e instanceof Error ? `${e.name}: ${e.message}` : String(e)}`)
        }
      }
    expect(wrong).toEqual([])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})
