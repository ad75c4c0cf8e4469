import { nn } from '../../src/core/ops/nn.js'
import { nnRules } from '../../src/rules/nn.js'
import { checkTable } from './table-checks.js'

checkTable(nn, nnRules)
