// The examples that users read type-check, as one program.
import { expect, it } from 'vitest'
import { allExamples } from './all-examples.js'
import { generate, typeErrors } from './generate.js'

it('examples type-check', () => {
  expect(typeErrors(generate(allExamples()))).toEqual([])
})
