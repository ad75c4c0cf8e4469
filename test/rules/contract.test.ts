import { describe } from 'vitest'
import { contract } from '../../src/core/ops/contract.js'
import { contractRules } from '../../src/rules/contract.js'
import { checkTable } from './table-checks.js'

checkTable(contract, contractRules)
