/** Indexing by computed positions: the whole family. */
import { scatterAddAlongPrimitive, searchsortedPrimitive, takeAlongAxisPrimitive } from './indexing-along.js'
import { dynamicSliceAddPrimitive, dynamicSlicePrimitive, dynamicUpdateSlicePrimitive } from './indexing-dynamic.js'
import { gatherPrimitive, iotaPrimitive, scatterAddPrimitive, setAtPrimitive } from './indexing-gather.js'

export * from './indexing-along.js'
export * from './indexing-dynamic.js'
export * from './indexing-gather.js'

/** Primitives of this family, by name. */
export const indexing = {
  iota: iotaPrimitive,
  gather: gatherPrimitive,
  scatterAdd: scatterAddPrimitive,
  setAt: setAtPrimitive,
  takeAlongAxis: takeAlongAxisPrimitive,
  scatterAddAlong: scatterAddAlongPrimitive,
  searchsorted: searchsortedPrimitive,
  dynamicSlice: dynamicSlicePrimitive,
  dynamicSliceAdd: dynamicSliceAddPrimitive,
  dynamicUpdateSlice: dynamicUpdateSlicePrimitive,
} as const
