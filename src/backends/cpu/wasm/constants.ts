/**
 * Whether constant vectors are made once, at the entry of a function: V8 from 13 on makes one anew wherever it is written, in loops too, and runs transcendentals up to half as fast again
 * where it does not; older ones do better with constants where they are used. Known by Float16Array, which came with V8 13.5.
 */
export const constantsAtEntry = (): boolean => 'Float16Array' in globalThis
