// Whole programs and their gradients as files: test/programs at fixed sizes and with named axes, run by ONNX Runtime.
import { describe, expect, it } from 'vitest'
import { isAdException } from '../../../src/index.js'
import { type OnnxFile, toONNX } from '../../../src/onnx/index.js'
import { deep } from '../../depth.js'
import * as bundleAdjustment from '../../programs/bundle-adjustment.js'
import * as control from '../../programs/control.js'
import * as flow from '../../programs/flow.js'
import * as gaussianProcess from '../../programs/gaussian-process.js'
import * as gru from '../../programs/gru.js'
import * as iris from '../../programs/iris.js'
import * as kalman from '../../programs/kalman.js'
import * as maml from '../../programs/maml.js'
import * as neuralOde from '../../programs/neural-ode.js'
import * as pinn from '../../programs/pinn.js'
import * as reaction from '../../programs/reaction.js'
import * as substitution from '../../programs/substitution.js'
import * as transformer from '../../programs/transformer.js'
import * as vae from '../../programs/vae.js'
import { type AnyDeclared, declarationOf, gradientOf, runtimeError } from './given.js'

const modules = {
  bundleAdjustment,
  control,
  flow,
  gaussianProcess,
  gru,
  iris,
  kalman,
  maml,
  neuralOde,
  pinn,
  reaction,
  substitution,
  transformer,
  vae,
}
/** Rates of a reaction, and what there is of it, are positive. */
const lowOf = (name: string): number | undefined => (name.startsWith('reaction') ? 0.2 : undefined)
const functions = Object.entries(modules).flatMap(([module, exports]) =>
  Object.entries(exports).flatMap(([name, f]) =>
    (f as { readonly _tag?: unknown })._tag === 'Fn' && declares(f as AnyDeclared)
      ? [{ name: `${module}.${name}`, f: f as AnyDeclared }]
      : [],
  ),
)
function declares(f: AnyDeclared): boolean {
  try {
    return declarationOf(f).specs.length > 0
  } catch {
    return false
  }
}
const quick = new Set(['flow.loss', 'gru.loss', 'kalman.filterStep', 'pinn.loss', 'transformer.loss', 'vae.loss', 'substitution.loss'])
const tried = functions.filter(({ name }) => deep || quick.has(name))
/** Programs that are others at other sizes: loops that are written out, blocks of them, steps up to a limit; and axes that must be equal. */
const FIXED = [
  'bundleAdjustment.residuals',
  'gaussianProcess.cholesky',
  'gaussianProcess.negativeLogLikelihood',
  'gaussianProcess.predict',
  'gaussianProcess.solveLower',
  'kalman.localLevelLoss',
  'kalman.logLikelihood',
  'reaction.masses',
]
const sizesOf = (axes: readonly string[], sizes: readonly number[]) => Object.fromEntries(axes.map((a, i) => [a, sizes[i % sizes.length]!]))
const withAxes = (g: AnyDeclared): OnnxFile | string => {
  try {
    return toONNX(g)
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'BadInput') return e.error.fix ?? ''
    throw e
  }
}

describe('test/programs by ONNX Runtime', () => {
  it('has the functions', () => {
    expect(functions.length).toBe(51)
    expect(tried.length).toBe(deep ? functions.length : quick.size)
  })
  for (const { name, f } of tried)
    for (const [what, g] of [
      ['value', f],
      ['gradient', gradientOf(f)],
    ] as const)
      it(`${name}: ${what}`, { timeout: 120_000 }, async () => {
        const { axes } = declarationOf(f)
        const sizes = sizesOf(axes, [4, 3, 5])
        expect(await runtimeError(g, toONNX(g, { sizes }), sizes, lowOf(name))).toBeLessThan(1)
        if (axes.length === 0) return
        const file = withAxes(g)
        if (FIXED.includes(name)) {
          expect(file).toContain('give the sizes')
          return
        }
        if (typeof file === 'string') throw new Error(file)
        for (const at of [sizes, sizesOf(axes, [7, 8, 2])]) expect(await runtimeError(g, file, at)).toBeLessThan(1)
      })
})
