import { linalg } from '../../src/core/ops/families.js'
import { linalgRules } from '../../src/rules/linalg.js'
import { checkTable } from './table-checks.js'

checkTable(linalg, linalgRules)
