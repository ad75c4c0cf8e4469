/** Families that are the same on every backend: views and copies, the scalar programs of maps, functions written out, calls of the user's. */
import { calling, type FacetTable, planned } from '../../core/extend/kernel-table.js'
import type { controlFamily } from '../../core/ops/control/control.js'
import type { customFamily } from '../../core/ops/custom.js'
import type { layout } from '../../core/ops/families.js'
import type { heldFamily } from '../../core/ops/held.js'
import type { mapFamily } from '../../core/ops/map.js'
import { type tapFamily, tapped } from '../../core/ops/tap.js'

export const layoutFacets: FacetTable<typeof layout> = {
  broadcastTo: planned('view'),
  reshape: planned('view'),
  transpose: planned('view'),
  slice: planned('view'),
  sliceAdd: planned('in place'),
  pad: planned('copy'),
  concat: planned('copy'),
  split: planned('view'),
}
/** Its scalar program is the body of a loop, fused with its neighbours or alone. */
export const mapFacets: FacetTable<typeof mapFamily> = { map: planned('loop') }
/** Only what a function with rules of its own computes is planned. */
export const customFacets: FacetTable<typeof customFamily> = { customRule: planned('written out') }

/** A loop stays one where its step runs more than once; a branch is every branch and a choice. */
export const controlFacets: FacetTable<typeof controlFamily> = { scan: planned('loop'), switchCase: planned('written out') }

/** A function of the user's is called, wherever the rest runs. */
export const tapFacets: FacetTable<typeof tapFamily> = { tap: calling(tapped) }

/** A choice, element by element. */
export const heldFacets: FacetTable<typeof heldFamily> = { finiteUnless: planned('written out') }

/** A backend's tables begin with these. */
export const plannedFamilies = {
  layout: layoutFacets,
  map: mapFacets,
  custom: customFacets,
  control: controlFacets,
  tap: tapFacets,
  held: heldFacets,
} as const
