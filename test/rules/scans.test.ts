import { scans } from '../../src/core/ops/scans.js'
import { scanRules } from '../../src/rules/scans.js'
import { checkTable } from './table-checks.js'

checkTable(scans, scanRules)
