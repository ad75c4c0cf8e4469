import { layout } from '../../src/core/ops/layout.js'
import { layoutRules } from '../../src/rules/layout.js'
import { checkTable } from './table-checks.js'

checkTable(layout, layoutRules)
