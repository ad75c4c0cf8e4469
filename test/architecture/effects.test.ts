// What runs when a module loads: values, which bundlers leave out where nobody names them, and a few statements that belong to a class.
import { describe, expect, it } from 'vitest'
import { effects, shakeable, withOps, withoutSamples, withPrimitives } from '../../scripts/shakeable.js'
import { sourcesUnder } from './sources.js'

describe('the modules of src', () => {
  it('do nothing when they load but make values, and dress the classes that they declare', () => {
    const found = sourcesUnder('src').flatMap(({ path, text }) => effects(path, text).map((line) => `${path}: ${line}`))
    // A prototype that is dressed where its class stands is needed by whoever has the class, and by nobody else.
    const dressing = /^src\/\S+: (?:Object\.defineProperty|brand|refuse\w+)\((\w+)\.prototype/
    const others = found.filter((line) => !dressing.test(line))
    expect(others).toEqual([
      'src/backends/worker/thread.ts: serve()', // a worker's file, which nobody imports
      "src/core/errors/error.ts: for (const key of ['name', '_tag']) Object.defineProperty(AdException.prototype, key, { value: 'AdException' })",
      'src/core/functions/device-tensor.ts: if (symbol !== undefined) Object.defineProperty(DeviceTensor.prototype, symbol, { value: DeviceTensor.prototype.dispose })',
      'src/core/graph/numbers.ts: CODES.forEach((c, i) => {',
      'src/mpi/native/thread.ts: if (given !== undefined) {', // what a thread runs that loads it, and nobody else
    ])
  })
})

describe('the build', () => {
  it('marks what is made by a call, or read off another value, and nothing else', () => {
    const text = `const a=1,b=f(2),c={d:g()};export const h=a.b;const i=()=>f();let j=[...b];function k(){const l=f()}`
    expect(shakeable('x.js', text)).toBe(
      `const a=1,b=/*#__PURE__*/(()=>f(2))(),c=/*#__PURE__*/(()=>({d:g()}))();export const h=/*#__PURE__*/(()=>a.b)();const i=()=>f();let j=/*#__PURE__*/(()=>[...b])();function k(){const l=f()}`,
    )
  })
  it('leaves out samples, and nothing that a module exports', () => {
    const source = 'src/core/ops/a.ts'
    expect(withoutSamples(source, `const s=f();export const a=g({name:'a',samples:[s],hard:h(s),extremes:[1],source:'DLMF',cost:2})`)).toBe(
      `const s=f();export const a=g({name:'a',samples:[],hard:[],extremes:[],source:'',cost:2})`,
    )
    // What users declare goes through lifted.ts, and keeps what it says of itself.
    expect(withoutSamples('src/core/ops/lifted.ts', `g({samples:f(d),source:d.source})`)).toBe('g({samples:[],source:d.source})')
    expect(withoutSamples('src/core/extend/a.ts', `g({samples:[s]})`)).toBe('g({samples:[s]})')
  })
  it('imports operations by the name that a condition resolves, from wherever they are', () => {
    const named = (source: string, from: string): string => withOps(source, `import{a}from"${from}";`)
    expect(named('src/modes/m.ts', '../core/ops/layout/slice.js')).toBe('import{a}from"#ops/layout/slice.js";')
    expect(named('src/core/ops/layout/join.ts', '../lifted.js')).toBe('import{a}from"#ops/lifted.js";')
    expect(named('src/core/ops/a.ts', '../graph/expr.js')).toBe('import{a}from"../graph/expr.js";')
  })
  it('names the primitives of modules that are read whole', () => {
    const text = `import*as a from"./arithmetic.js";import*as b from"./special/bessel.js";const c=f({...a,d:b.d}),e=f(b);`
    const exported = { 'arithmetic.js': ['add', 'sub'], 'special/bessel.js': ['j0'] }
    expect(withPrimitives('src/core/ops/families.ts', text, exported)).toBe(
      `import*as a from"./arithmetic.js";import*as b from"./special/bessel.js";const c=f({add:a.add,sub:a.sub,d:b.d}),e=f({j0:b.j0});`,
    )
    expect(withPrimitives('src/core/ops/arrays.ts', text, exported)).toBe(text)
  })
  it('finds statements that bundlers keep, and patterns that it cannot mark', () => {
    expect(effects('x.ts', `import 'y'\nf()\nconst { a } = b\nconst c = f()\nclass D {}`)).toEqual(['f()', 'const { a } = b'])
  })
})
