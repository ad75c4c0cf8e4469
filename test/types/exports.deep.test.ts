// Run time and types agree on which operations have a primitive.
import { describe, expect, it } from 'vitest'
import * as codual from '../../src/index.js'
import { compile, hoverOf } from './harness.js'

describe('run time and types agree', () => {
  it('primitives: an operation has one at run time where its type says so', () => {
    const typed = compile(
      'primitives',
      `import type * as codual from '../../../src/index.js'
       type All = typeof codual
       type Named<K extends keyof All> = All[K] extends { readonly primitive: { readonly name: infer N extends string } } ? \`\${K} \${N}\` : never
       export declare const names: { [K in keyof All]: Named<K> }[keyof All]`,
    )
    expect(typed.errors).toEqual([])
    const named = (op: unknown): string | undefined => (op as { readonly primitive?: { readonly name: string } }).primitive?.name
    expect([...hoverOf(typed, 'names').matchAll(/"(\w+ \w+)"/g)].map(([, pair]) => pair).sort()).toEqual(
      Object.entries(codual)
        .filter(([, op]) => named(op) !== undefined)
        .map(([name, op]) => `${name} ${named(op)}`)
        .sort(),
    )
  })
})
