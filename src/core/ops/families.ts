/** Every shipped primitive, by family: what tests, rules and kernels are held against. */
import { compare } from './compare.js'
import { compare } from './compare.js'
import { contract } from './contract.js'
import { elementwise } from './elementwise.js'
import { layout } from './layout.js'
import { mapFamily } from './map.js'
import { reduce } from './reduce.js'

export const families = { elementwise, compare, layout, reduce, contract, map: mapFamily } as const
