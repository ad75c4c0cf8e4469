import { indexing } from '../../src/core/ops/indexing.js'
import { indexingRules } from '../../src/rules/indexing.js'
import { checkTable } from './table-checks.js'

checkTable(indexing, indexingRules)
