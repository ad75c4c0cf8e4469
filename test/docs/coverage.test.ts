// Every public name has a docstring where it is defined, and every public function an example that shows its result.
import { describe, expect, it } from 'vitest'
import { examplesOf as examples } from '../../scripts/docs/described.js'
import { entries, exportsOf, type PublicName, publicNames, shortPath } from '../../scripts/docs/public-names.js'
import * as blas from '../../src/backends/blas/index.js'
import * as onnxruntime from '../../src/backends/onnxruntime/index.js'
import * as threads from '../../src/backends/threads/index.js'
import * as worker from '../../src/backends/worker/index.js'
import * as check from '../../src/check/index.js'
import * as property from '../../src/check/property.js'
import * as display from '../../src/display/index.js'
import * as codual from '../../src/index.js'
import * as minimize from '../../src/minimize/index.js'
import * as mpi from '../../src/mpi/index.js'
import * as nn from '../../src/nn/index.js'
import * as onnx from '../../src/onnx/index.js'
import * as optim from '../../src/optim/index.js'
import * as prob from '../../src/prob/index.js'
import * as random from '../../src/random/index.js'
import * as solve from '../../src/solve/index.js'
import * as train from '../../src/train/index.js'
import * as trainNode from '../../src/train/node.js'
import { patternOf } from './expected.js'

const values: Readonly<Record<string, unknown>> = {
  ...codual,
  ...check,
  ...property,
  ...display,
  ...minimize,
  ...mpi,
  ...nn,
  ...onnx,
  ...onnxruntime,
  ...threads,
  ...worker,
  ...optim,
  ...prob,
  ...random,
  ...solve,
  ...train,
  ...trainNode,
  ...blas,
}
const names = publicNames()
const where = (n: PublicName): string => `${n.name} (${shortPath(n.file)}:${n.line})`
const isFunction = (n: PublicName): boolean => !n.type && typeof values[n.name] === 'function'
const examplesOf = (n: PublicName): readonly string[] => examples(n).map((e) => e.code)
const showsResult = (code: string): boolean =>
  code.split('\n').some((line) => patternOf(/\s\/\/ (.*)$/.exec(line)?.[1] ?? '') !== undefined)

describe('public names', () => {
  it('are all found by reading the source: those that run, and those of types', () => {
    expect([...new Set(names.filter((n) => !n.type).map((n) => n.name))].sort()).toEqual(Object.keys(values).sort())
    expect(names.some((n) => n.type)).toBe(true)
  })

  it('are exported once: a name of src/index.ts would silently hide that of a file it hands on', () => {
    for (const path of Object.values(entries)) {
      const exported = exportsOf(path).map((e) => e.name)
      expect(exported.filter((name, i) => exported.indexOf(name) !== i)).toEqual([])
    }
  })

  it('have a docstring', () => {
    expect(names.filter((n) => n.doc === undefined).map(where)).toEqual([])
  })

  it('have an example that shows its result, if they are functions', () => {
    const functions = names.filter(isFunction)
    expect(functions.length).toBeGreaterThan(100)
    expect(functions.filter((n) => !examplesOf(n).some(showsResult)).map(where)).toEqual([])
  })

  it('say first what they are: a formula or a noun phrase that ends with a stop', () => {
    const first = (n: PublicName): string => n.doc?.text.replace(/^\/\*\*\s*(\* )?/, '') ?? ''
    expect(names.filter((n) => /^(This|Returns|Return|Computes|A function that)\b/.test(first(n))).map(where)).toEqual([])
  })
})
