import { reduce } from '../../src/core/ops/reduce.js'
import { reduceRules } from '../../src/rules/reduce.js'
import { checkTable } from './table-checks.js'

checkTable(reduce, reduceRules)
