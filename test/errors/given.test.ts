/** Values inside options, what definers of primitives, rules and plugins take, and what the checker takes: BadInput that names the call. */
import { isLeft } from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import * as check from '../../src/check/index.js'
import { forAll } from '../../src/check/property.js'
import * as cd from '../../src/index.js'

const { f64, fn, mul, sum, tensor } = cd
const refused = (call: () => unknown): string => {
  try {
    call()
  } catch (e) {
    if (cd.isAdException(e) && e.error._tag === 'BadInput') return e.message
    throw e
  }
  throw new Error('nothing was raised')
}
type Row = readonly [what: string, call: () => unknown, message: RegExp]
const all = (rows: readonly Row[]): void => {
  it.each(rows.map(([what, call, message]) => ({ what, call, message })))('$what', ({ call, message }) => {
    expect(refused(call)).toMatch(message)
  })
}

const f = (x: cd.AnyExpr) => sum(mul(x, x))
const named = fn({ x: f64('n') }, ({ x }) => sum(x))
const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
const times = cd.binary({ name: 'times', scalar: (a, b) => a! * b!, source: 'definition' })
const twiceRule = cd.scalarRule(twice, () => [2])

describe('transforms', () => {
  const { grad, valueAndGrad, jvp, vjp, hvp, linearize, vmap, jacfwd, jacrev, hessian } = cd
  const transforms = { grad, valueAndGrad, jvp, vjp, hvp, linearize, vmap, jacfwd, jacrev, hessian }
  all([
    ...Object.entries(transforms).map(
      ([name, transform]): Row => [
        `${name} of no function`,
        () => (transform as (f: unknown) => unknown)(5),
        new RegExp(`BadInput: ${name}: 5 is not a function`),
      ],
    ),
    ['customRule of no function', () => cd.customRule(5 as never, { frule: () => [1, 1] } as never), /customRule: 5 is not a function/],
    ['customRule with another name', () => cd.customRule(f, { rule: f } as never), /customRule\(f\): there is no option rule/],
    ['customRule without rules', () => cd.customRule(f, null as never), /customRule\(f\): null where options/],
    ['mode', () => cd.grad(f, { mode: 'fwd' as never }), /grad: mode is 'fwd'[\s\S]*mixed, reverse, forward/],
    ['aux', () => cd.valueAndGrad(f as never, { aux: 1 as never }), /valueAndGrad: aux must be true or false, not 1/],
    ['wrt null', () => cd.grad(f, { wrt: null as never }), /grad: wrt is null/],
    ['wrt of a list', () => cd.vjp(f, { wrt: ['x', {}] as never }), /vjp: wrt is an array of 2/],
    ['wrt of hessian', () => cd.hessian(f, { wrt: 1.5 as never }), /hessian: wrt is 1.5/],
    ['chunk', () => cd.hessian(f, { chunk: 0 }), /hessian: chunk is 0/],
    ['an option of grad for hvp', () => cd.hvp(f, { mode: 'reverse' } as never), /hvp: there is no option mode[\s\S]*\{ wrt \}/],
    ['inAxes', () => cd.vmap(f, { inAxes: 1.5 }), /vmap: inAxes is 1.5/],
    ['inAxes of a list', () => cd.vmap(f, { inAxes: [0, 'x'] as never }), /vmap: inAxes at 1 is 'x'/],
    ['outAxes', () => cd.vmap(f, { outAxes: { y: true } as never }), /vmap: outAxes at y is true/],
  ])
  it('passes on what hessian takes and grad does not', () => {
    const h = cd.hessian((x: cd.AnyExpr) => cd.prod(x), { chunk: 1 })([2, 3]) as cd.Tensor
    expect(h.toArray()).toEqual([
      [0, 1],
      [1, 0],
    ])
  })
})

describe('running', () => {
  const env = { backend: cd.cpu() }
  all([
    ['compile of no function', () => cd.compile(null as never), /compile: null is not a function/],
    ['compile for no backend', () => cd.compile(f, 'cpu' as never), /compile: 'cpu' is not a backend/],
    ['compileAsync for no backend', () => cd.compileAsync(f, {} as never), /compileAsync: an object is not a backend/],
    ['makeCodual on no backend', () => cd.makeCodual(cd.coreRegistry, {} as never), /makeCodual: an object is not a backend/],
    [
      'makeCodual on an asynchronous backend',
      () => cd.makeCodual(cd.coreRegistry, cd.webgpu() as never),
      /makeCodual: the backend webgpu is asynchronous/,
    ],
    ['makeCodual of no registry', () => cd.makeCodual({} as never, cd.cpu()), /makeCodual: an object is not a registry/],
    ['codualWith of no plugin', () => cd.codualWith([{ ops: {} }] as never), /codualWith: an object is not a plugin/],
    ['accumulate', () => cd.compile(f).into(tensor(0), { accumulate: 'yes' as never }), /into: accumulate must be true or false/],
    ['fn without a body', () => fn({ x: f64() }, undefined as never), /fn: it has no body/],
    ['the name of fn', () => fn({ x: f64() }, ({ x }) => x, { name: 5 as never }), /fn: name must be a string/],
    ['sizes of an axis that is none', () => cd.show(named, { m: 2 }), /show: fn declares no axis 'm'[\s\S]*named axes: n/],
    ['a size', () => cd.toProgram(named, { n: 1.5 }), /toProgram: the size of 'n' must be a whole number/],
    ['sites', () => cd.toProgram(named, { n: 2 }, { sites: 1 as never }), /toProgram: sites must be true or false/],
    ['cpu memory', () => cd.cpu({ memoryBytes: Number.NaN }), /cpu: memoryBytes is NaN/],
    ['cpu memory as text', () => cd.cpu({ memoryBytes: 1n as never }), /cpu: memoryBytes is a bigint/],
    ['cpu kernels', () => cd.cpu({ kernels: {} as never }), /cpu: kernels are an object[\s\S]*plugin\.kernels\.cpu/],
    ['webgpu storage', () => cd.webgpu({ storage: 'bf16' as never }), /webgpu: storage is 'bf16'[\s\S]*f32, f16/],
    ['interpret', () => cd.interpret({ input: () => 0 } as never), /interpret: literal must be a function/],
  ])
  it('takes a record of numbers for an argument where it names no axis', () => {
    const plain = cd.compile(fn({ x: f64() }, ({ x }) => mul(x, x)))
    expect(plain.explain({ x: 3 }).steps.length).toBeGreaterThan(0)
  })
  it('gives what run and runSync are missing in Left', async () => {
    const results = [
      await cd.run(f)([1, 2])({} as never)(),
      await cd.run(f)([1, 2])(undefined as never)(),
      await cd.run(5 as never)([1, 2])(env)(),
      cd.runSync(undefined as never)(f)([1, 2]),
      cd.runSync(cd.cpu())(null as never)(1),
    ]
    for (const r of results) expect(isLeft(r) && r.left._tag).toBe('BadInput')
    expect(await cd.run(f)([1, 2])(env)()).toMatchObject({ _tag: 'Right' })
  })
})

describe('definers', () => {
  const seen = (x: unknown) => x as never
  all([
    ['unary without a function', () => cd.unary({ name: 'u', source: '' } as never), /unary u: scalar must be a function/],
    [
      'unary with another name',
      () => cd.unary({ name: 'u', scalar: Math.abs, source: '', kink: [] } as never),
      /unary: there is no option kink/,
    ],
    ['binary of a text', () => cd.binary('times' as never), /binary: the declaration must be an object/],
    [
      'primitive without a meaning',
      () => cd.primitive(seen({ name: 'p', args: [], shapeRule: () => [] })),
      /primitive p: meaning must be a function/,
    ],
    [
      'applyPrimitive of an operation',
      () => cd.applyPrimitive(seen(twice), [1]),
      /applyPrimitive: a function is not a primitive[\s\S]*op\.primitive/,
    ],
    [
      'applyPrimitive with other parameters',
      () => cd.applyPrimitive(twice.primitive, [1], seen(5)),
      /applyPrimitive: twice: 5 is none of its parameters/,
    ],
    [
      'applyPrimitive without its parameters',
      () => cd.applyPrimitive(cd.coreRegistry.rules.get('sum')!.primitive, [[1]]),
      /applyPrimitive: sum: its parameters are missing/,
    ],
    [
      'applyPrimitive without a list',
      () => cd.applyPrimitive(twice.primitive, seen(1)),
      /applyPrimitive: twice: the arguments must be an array/,
    ],
    ['scalarRule of a name', () => cd.scalarRule(seen('twice'), () => [2]), /scalarRule: 'twice' is not a primitive/],
    ['scalarRule without partials', () => cd.scalarRule(twice, seen([2])), /scalarRule\(twice\): the second argument must be a function/],
    [
      'rule with another facet',
      () => cd.rule(twice.primitive, seen({ vjp: f })),
      /rule\(twice\): there is no option vjp[\s\S]*frule, rrule, batch/,
    ],
    [
      'multiRule of a facet that is no function',
      () => cd.multiRule(twice.primitive, seen({ frule: 2 })),
      /multiRule\(twice\): frule must be a function, not 2/,
    ],
    [
      'linearRule without a transpose',
      () => cd.linearRule(twice.primitive, seen({ batch: f })),
      /linearRule\(twice\): transpose must be a function/,
    ],
    [
      'bilinearRule without one of two',
      () => cd.bilinearRule(times.primitive, seen({ transposeA: f })),
      /bilinearRule\(times\): transposeB must be/,
    ],
    [
      'nonDifferentiable',
      () => cd.nonDifferentiable(twice, seen({})),
      /nonDifferentiable\(twice\): the second argument must be a function/,
    ],
    ['optOut of no rule', () => cd.optOut(twice, seen({}), { when: () => true }), /optOut\(twice\): an object is not a rule/],
    ['optOut without when', () => cd.optOut(twice, twiceRule, seen({ wen: f })), /optOut\(twice\): there is no option wen/],
    ['registryOf', () => cd.registryOf(seen([twice.primitive])), /registryOf: an object is not a rule/],
    ['registry.with', () => cd.coreRegistry.with(seen(twice)) && cd.coreRegistry.with(seen(5)), /registry\.with: 5 is not a rule/],
    ['registryMonoid', () => cd.registryMonoid.concat(cd.coreRegistry, seen({})), /registryMonoid: an object is not a registry/],
    ['pluginMonoid', () => cd.pluginMonoid.concat(cd.corePlugin, seen({})), /pluginMonoid: an object is not a plugin/],
    [
      'definePlugin with another part',
      () => cd.definePlugin(seen({ name: 'p', ops: {}, rules: {}, rule: {} })),
      /definePlugin: there is no option rule/,
    ],
    [
      'definePlugin of an op that is none',
      () => cd.definePlugin(seen({ name: 'p', ops: { twice: 5 }, rules: {} })),
      /definePlugin p: twice: 5 is not a primitive/,
    ],
    [
      'definePlugin of a rule that is none',
      () => cd.definePlugin(seen({ name: 'p', ops: { twice }, rules: { twice: 5 } })),
      /definePlugin p: the rule of twice is 5/,
    ],
    [
      'definePlugin of a kernel that is none',
      () => cd.definePlugin(seen({ name: 'p', ops: { twice }, rules: { twice: twiceRule }, kernels: { cpu: { twice: 5 } } })),
      /definePlugin p: the kernel of twice is 5/,
    ],
    ['dualAlgebra', () => cd.dualAlgebra(cd.coreRegistry, seen(1)), /dualAlgebra: the second argument must be a function/],
    ['fromJSON', () => cd.fromJSON({}, seen([twice])), /fromJSON: a function is not a primitive/],
    ['treeMap', () => cd.treeMap(seen(1), [tensor(1)]), /treeMap: the first argument must be a function/],
    ['scale', () => cd.vectorSpace.scale(seen('2'), tensor(1)), /scale: the factor must be a number/],
    ['random', () => cd.vectorSpace.random(seen('2'), tensor(1)), /random: '2' is not a source/],
    ['explain', () => cd.explain(seen(new Error('x'))), /explain: this is not an AdError[\s\S]*e\.error/],
    ['raise', () => cd.raise(seen({ _tag: 'Decode' })), /raise: this is not an AdError/],
    ['decodeError', () => cd.decodeError(seen([{}])), /decodeError: an object is not an error of io-ts/],
    ['codec.encode', () => cd.codec({ x: f64() }).encode({ x: 5 } as never), /codec: 5 is not a tensor/],
  ])
  it('takes what it took', () => {
    const registry = cd.registryOf([
      cd.scalarRule(twice, () => [2]),
      cd.linearRule(times.primitive, { transpose: (y) => [y, y], batch: ([a]) => a }),
    ])
    expect([...registry.rules.keys()]).toEqual(['p/twice', 'own/times'])
    expect(cd.evaluate(cd.applyPrimitive(twice.primitive, [4], {})[0])).toMatchObject({ dtype: 'f64', data: Float64Array.of(8) })
  })
})

describe('the checker', () => {
  const neg = cd.coreRegistry.rules.get('neg')!.primitive
  const checker = check.makeCheck(cd.coreRegistry)
  all([
    [
      'checks by another name',
      () => check.checkGrad(f, { checks: { bach: false } as never }),
      /checkGrad: checks: there is no option bach/,
    ],
    [
      'a check that is no switch',
      () => check.checkRule(neg, { checks: { batch: 0 as never } }),
      /checkRule: checks: batch must be true or false/,
    ],
    ['order', () => check.checkGrad(f, { order: 5 as never }), /checkGrad: order is 5/],
    ['backends', () => check.checkGrad(f, { backends: [5 as never] }), /checkGrad: 5 is not a backend/],
    ['directions', () => check.checkGrad(f, { directions: '2' as never }), /checkGrad: directions must be a whole number/],
    ['no rule', () => check.checkRule(5 as never), /checkRule: 5 is not a primitive/],
    ['no registry', () => check.makeCheck(5 as never), /makeCheck: 5 is not a registry/],
    ['no options', () => checker.checkGrad(f, 5 as never), /checkGrad: 5 where options/],
    ['an option of a method', () => checker.checkGrad(f, { seeds: 1 } as never), /checkGrad: there is no option seeds/],
    ['an option of another method', () => checker.checkRule(neg, { seeds: 1 } as never), /checkRule: there is no option seeds/],
    ['no sample', () => checker.checkRule(neg, { sample: {} as never }), /checkRule: this is not a sample/],
    ['kinks of nothing', () => checker.checkKinks(undefined as never), /checkKinks: undefined is not a primitive/],
    ['a report of nothing', () => check.report(5 as never), /report: 5 is not the result of a check/],
    ['a matcher of nothing', () => check.matchers.toPass(5 as never), /toPass: 5 is not the result of a check/],
    ['rows of no registry', () => check.rowsOf(5 as never), /rowsOf: 5 is not a registry/],
    ['kernels that are none', () => check.audit(cd.coreRegistry, { cpu: 5 as never }), /audit: that of cpu must be a function/],
    ['prepared by nothing', () => check.preparedBy(5 as never), /preparedBy: 5 is not a backend/],
    ['a seed', () => check.random('1' as never), /random: the seed must be a number/],
    ['a derivative of nothing', () => check.derivative(5 as never), /derivative: the first argument must be a function/],
    ['sizes of no axis', () => forAll(named, { sizes: { m: [1, 2] } }), /forAll: fn has no axis 'm'/],
    ['a range', () => forAll(named, { sizes: { n: [3, 1] } }), /forAll: the range of 'n' is \[3, 1\]/],
    ['options of its checks', () => forAll(named, { check: { ordre: 1 } as never }), /forAll: check: there is no option ordre/],
  ])
})
