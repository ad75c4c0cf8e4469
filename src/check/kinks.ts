/** Declared kinks on which a program lies. */
import { evaluateNodes } from '../core/graph/evaluate.js'
import { expandAll } from '../core/graph/expand.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { isUnbounded, type ScanParams } from '../core/ops/control/control.js'
import type { Derived } from './subject.js'

/** An elementwise primitive that lies exactly on a kink that it declares. */
export interface OnKink {
  readonly name: string
  /** Other applications have kinks too: together they may be smooth where each is not, minimum(x, relu(x)) at 0. */
  readonly several: boolean
}
/**
 * What lies on a kink, if anything does. What its rule gives there is a convention: where what follows makes the whole smooth again, softAbs(copysign(x, y)) at
 * x = 0, derivatives of the convention are not those of the whole.
 */
export const kinkAmong = (d: Derived): OnKink | undefined => {
  let name: string | undefined
  let having = 0
  const roots = expandAll(d.outs, (n) => (isEndless(n.prim!, n.payload) ? undefined : n.prim!.expand), 'the checker', 64)
  evaluateNodes(roots, d.env, (prim, args, [result]) => {
    if (prim.kinks.length === 0) return
    having++
    if (name !== undefined) return
    for (let i = 0; i < result!.data.length; i++)
      if (prim.kinks.some(({ at }) => at.every((v, k) => args[k]!.data[args[k]!.data.length === 1 ? 0 : i] === v))) name = prim.name
  })
  return name === undefined ? undefined : { name, several: having > 1 }
}

/** A loop that nothing but its condition ends. */
export const isEndless = (prim: AnyPrimitive, params: unknown): boolean =>
  prim.structure?.kind === 'loop' && isUnbounded(params as ScanParams)
