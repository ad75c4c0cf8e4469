/** Declared kinks on which a program lies. */
import { evaluateNodes } from '../core/graph/evaluate.js'
import { expandAll } from '../core/graph/expand.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { isUnbounded, type ScanParams, scanPrimitive } from '../core/ops/control.js'
import type { Derived } from './subject.js'

/**
 * The name of an elementwise primitive that lies exactly on a kink that it declares. What its rule gives there is a convention: where what follows makes the whole
 * smooth again, softAbs(copysign(x, y)) at x = 0, derivatives of the convention are not those of the whole.
 */
export const kinkAmong = (d: Derived): string | undefined => {
  let found: string | undefined
  const { roots } = expandAll(d.outs, ({ prim, payload }) => (isEndless(prim!, payload) ? undefined : prim!.expand), 'the checker', 64)
  evaluateNodes(roots, d.env, ({ name, kinks }, args, [result]) => {
    if (found !== undefined || kinks.length === 0) return
    for (let i = 0; i < result!.data.length; i++)
      if (kinks.some(({ at }) => at.every((v, k) => args[k]!.data[args[k]!.data.length === 1 ? 0 : i] === v))) found = name
  })
  return found
}

/** A loop that nothing but its condition ends. */
const isEndless = (prim: AnyPrimitive, params: unknown): boolean =>
  prim === (scanPrimitive as unknown as AnyPrimitive) && isUnbounded(params as ScanParams)
