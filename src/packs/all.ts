/** Everything that is shipped, by family: for those who list it. A bundle that holds this holds all. */
import { baseKernels } from '../backends/cpu/facets.js'
import type { CpuTable } from '../backends/cpu/kernel.js'
import type { Pack } from '../core/calculus/pack.js'
import { type Registry, type Rule, registryOf } from '../core/calculus/rule.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { families } from '../core/ops/families.js'
import { baseRules } from '../rules/base.js'
import { bitwisePack } from './bitwise.js'
import { contractPack } from './contract.js'
import { controlPack } from './control.js'
import { customPack } from './custom.js'
import { eighPack } from './eigh.js'
import { exponentialsPack } from './exponentials.js'
import { fourierPack } from './fourier.js'
import { gammaPack } from './gamma.js'
import { indexingPack } from './indexing.js'
import { nnPack } from './nn.js'
import { qrPack } from './qr.js'
import { specialPack } from './special.js'
import { svdPack } from './svd.js'
import { systemsPack } from './systems.js'
import { tapPack } from './tap.js'
import { triangularPack } from './triangular.js'
import { trigonometricPack } from './trigonometric.js'

type Families = typeof families
/** What is no part of the base; whoever reads the tables holds these. */
const packs: readonly Pack[] = [
  exponentialsPack,
  trigonometricPack,
  gammaPack,
  specialPack,
  bitwisePack,
  indexingPack,
  contractPack,
  triangularPack,
  qrPack,
  eighPack,
  svdPack,
  systemsPack,
  fourierPack,
  nnPack,
  customPack,
  controlPack,
  tapPack,
]
/** The rows of each family: those of the base, and those of packs. */
const rowsOf = <R>(
  base: Readonly<Record<string, Readonly<Record<string, R>>>>,
  of: (pack: Pack) => Readonly<Record<string, R>>,
): { readonly [F in keyof Families]: { readonly [K in keyof Families[F]]: R } } => {
  const rows: readonly Readonly<Record<string, R>>[] = [...Object.values(base), ...packs.map(of)]
  const rowOf = (name: string): R => rows.find((r) => Object.hasOwn(r, name))![name]!
  return Object.fromEntries(
    Object.entries(families).map(([family, primitives]) => [
      family,
      Object.fromEntries(Object.keys(primitives).map((name) => [name, rowOf(name)])),
    ]),
  ) as never
}

/** The tables of rules, by family. */
export const ruleFamilies: { readonly [F in keyof Families]: { readonly [K in keyof Families[F]]: Rule } } = /*#__PURE__*/ rowsOf<Rule>(
  baseRules,
  (p) => p.rules,
)
/** The tables of the CPU's kernels, by family. */
export const cpuFamilies = /*#__PURE__*/ rowsOf<unknown>(baseKernels, (p) => p.cpu) as {
  readonly [F in keyof Families]: CpuTable<Families[F]>
}
/** Every shipped primitive. */
export const shippedPrimitives: readonly AnyPrimitive[] = /*#__PURE__*/ Object.values(families).flatMap((family): readonly AnyPrimitive[] =>
  Object.values(family),
)

/** The registry of all shipped rules. */
export const coreRegistry: Registry = /*#__PURE__*/ registryOf(
  Object.values(ruleFamilies).flatMap((family): readonly Rule[] => Object.values(family)),
)
