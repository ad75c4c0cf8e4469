// The examples that users read type-check, as one program: all of them in depth.
import { expect, it } from 'vitest'
import { some } from '../depth.js'
import { allExamples } from './all-examples.js'
import { generate, typeErrors } from './generate.js'

it('examples type-check', () => {
  expect(typeErrors(some(generate(allExamples()), 8))).toEqual([])
})
