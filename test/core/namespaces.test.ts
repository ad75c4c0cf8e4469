// Names of plugins live in a namespace: a primitive of a user's that is called as a shipped one, or as another plugin's, is another primitive everywhere.
import { concatAll } from 'fp-ts/lib/Monoid.js'
import { describe, expect, it } from 'vitest'
import { checkPlugin, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

/** A primitive of this name, k x at every element, which no shipped one is. */
const times = (name: string, k: number) => cd.unary({ name, scalar: (x) => k * x!, domain: [[-2, 2]], source: 'definition' })
/** The same as a function of whole arrays. */
const timesWhole = (name: string, k: number): cd.Plugin & { readonly op: (x: cd.AnyExpr) => cd.AnyExpr } => {
  const whole = cd.primitive({
    name,
    family: 'layout',
    args: ['float'],
    shapeRule: ([x]) => x!,
    meaning: ([x], _params, [y]) => y!.data.set(x!.data.map((v) => k * v)),
    source: 'definition',
  })
  const op = (x: cd.AnyExpr): cd.AnyExpr => cd.applyPrimitive(whole, [x])[0]
  const plugin = cd.definePlugin({
    name: 'whole',
    ops: { [name]: whole },
    rules: { [name]: cd.linearRule(whole, { transpose: (yBar) => [op(yBar)], batch: ([x]) => op(x) }) },
    kernels: { cpu: { [name]: (([x], params, outs) => whole.meaning([x!], params, outs)) satisfies cd.KernelFunction<cd.NoParams> } },
  })
  return { ...plugin, op }
}
type Op = ReturnType<typeof times>
const pluginOf = (plugin: string, op: Op, k: number): cd.Plugin =>
  cd.definePlugin({
    name: plugin,
    ops: { [op.primitive.name]: op },
    rules: { [op.primitive.name]: cd.scalarRule(op, () => [k]) },
    kernels: { cpu: { [op.primitive.name]: cd.perElement() } },
  })
/** All names of primitives in the JSON of a program. */
const applied = (json: cd.JSONValue): readonly string[] => {
  const names: string[] = []
  JSON.stringify(json, (key, value: unknown) => {
    if (key === 'apply') names.push(value as string)
    return value
  })
  return names
}

const shipped = [...cd.coreRegistry.rules.keys()]
const all = pluginOf('mine', times(shipped[0]!, 3), 3)

describe('a primitive called as a shipped one', () => {
  it.each(shipped)('%s is another primitive', (name) => {
    const op = times(name, 3)
    const whole = timesWhole(name, 5)
    const { grad, vmap, compile } = cd.codualWith([pluginOf('mine', op, 3), whole], { verify: true })
    const f = (x: cd.AnyExpr) => cd.sum(cd.add(op(x), cd.tanh(x)))
    expect(compile((x) => whole.op(op(x)))([1, 2]).toArray()).toEqual([15, 30])
    expect(grad((x) => cd.sum(whole.op(op(x))))([1, 2]).toArray()).toEqual([15, 15])
    expect(compile((x) => op(x))([1, 2]).toArray()).toEqual([3, 6])
    expect(grad(f)([0, 0]).toArray()).toEqual([4, 4])
    expect(vmap((x) => op(x))([[1], [2]]).toArray()).toEqual([[3], [6]])
    expect(
      cd
        .compile(
          (x) => op(x),
          cd.reference(),
        )([1, 2])
        .toArray(),
    ).toEqual([3, 6])
  })
  it('and the shipped one stand side by side: values, derivatives, plans, text and JSON', () => {
    const tanh = times('tanh', 3)
    const both = cd.codualWith(pluginOf('mine', tanh, 3))
    const f = (x: cd.AnyExpr) => [tanh(x), cd.tanh(x)] as const
    const [a, b] = both.compile(f)([0.5])
    expect([a.toArray(), b.toArray()]).toEqual([[1.5], [Math.tanh(0.5)]])
    const [swappedA, swappedB] = both.compile((x: cd.AnyExpr) => [cd.tanh(x), tanh(x)] as const)([0.5])
    expect([swappedA.toArray(), swappedB.toArray()]).toEqual([[Math.tanh(0.5)], [1.5]])
    const program = both.toProgram(f)([0.5])
    expect(cd.show(program)).toContain('y0 = mine/tanh(x0)')
    expect(cd.show(program)).toContain('y1 = tanh(x0)')
    expect(String(both.compile(f).explain([0.5]))).toMatch(/mine\/tanh/)
    const json = cd.toJSON(program)
    expect(applied(json)).toEqual(['mine/tanh', 'tanh'])
    for (const read of [both.fromJSON(json), cd.fromJSON(json, [tanh.primitive])]) {
      if (read._tag === 'Left') throw new Error(cd.explain(read.left))
      expect(cd.toJSON(read.right)).toEqual(json)
      const again = both.fromProgram(read.right)([0.5]) as readonly cd.Tensor[]
      expect(again.map((y) => y.toArray())).toEqual([[1.5], [Math.tanh(0.5)]])
      expect(
        both
          .grad((x: cd.AnyExpr) => cd.sum((both.fromProgram(read.right)(x) as readonly cd.AnyExpr[])[0]!))([0.5])
          .toArray(),
      ).toEqual([3])
    }
    expect(cd.fromJSON(json)).toMatchObject({
      _tag: 'Left',
      left: { errors: [{ path: 'nodes.1.apply', reason: "'mine/tanh' is not a known primitive" }] },
    })
  })
  it('is checked by checkPlugin as itself', () => {
    expect(report(checkPlugin(all))).toMatch(/^ok/)
    const wrong = pluginOf('mine', times('tanh', 3), 2)
    expect(report(checkPlugin(wrong))).not.toMatch(/^ok/)
  })
})

describe('two plugins with a primitive of one name', () => {
  const [a, b] = [times('scale', 2), times('scale', 5)]
  const plugins = [pluginOf('one', a, 2), pluginOf('@two/scaling', b, 5)]
  const both = cd.codualWith(plugins)
  it('have each its own rule and kernel', () => {
    const f = (x: cd.AnyExpr) => cd.sum(cd.add(a(x), cd.mul(10, b(x))))
    expect(both.compile(f)([1]).toArray()).toBe(52)
    expect(both.grad(f)([1]).toArray()).toEqual([52])
    expect(concatAll(cd.pluginMonoid)(plugins).duplicates).toEqual([])
  })
  it('are apart in text and JSON, in programs within programs too', () => {
    const f = (x: cd.AnyExpr) => cd.fori(2, (_, y: cd.AnyExpr) => cd.add(a(y), b(y)), x)
    const json = cd.toJSON(both.toProgram(f)([1]))
    expect(applied(json)).toEqual(expect.arrayContaining(['one/scale', '@two/scaling/scale']))
    const read = both.fromJSON(JSON.parse(JSON.stringify(json)))
    if (read._tag === 'Left') throw new Error(cd.explain(read.left))
    expect((both.fromProgram(read.right)([1]) as cd.Tensor).toArray()).toEqual([49])
    expect(cd.show(read.right)).toMatch(/one\/scale\([\s\S]*@two\/scaling\/scale\(/)
  })
  it('are refused where the plugins have one name too', () => {
    const again = () => cd.codualWith([plugins[0]!, pluginOf('one', times('scale', 7), 7)])
    expect(again).toThrow(/DuplicatePrimitive: `one\/scale` is declared twice/)
  })
})

describe('a primitive that no plugin has', () => {
  it('has no / in its name', () => {
    expect(() => times('mine/tanh', 3)).toThrow(/definePlugin puts it into the namespace/)
  })
  it('is in the namespace own, beside a shipped one of its name', () => {
    const tanh = times('tanh', 3)
    const mine = cd.makeCodual(cd.coreRegistry.with(cd.scalarRule(tanh, () => [3])), cd.cpu())
    const f = (x: cd.AnyExpr) => cd.sum(cd.add(tanh(x), cd.tanh(x)))
    expect(mine.grad(f)([0]).toArray()).toEqual([4])
    const json = cd.toJSON(mine.toProgram(f)([0]))
    expect(applied(json)).toEqual(['own/tanh', 'tanh', 'add', 'sum'])
    expect(mine.fromJSON(json)._tag).toBe('Right')
  })
  it('is found by its name alone where a program was saved before names had a namespace, a shipped one first', () => {
    const [halve, tanh] = [times('halve', 0.5), times('tanh', 3)]
    const plain = (op: Op) => JSON.parse(JSON.stringify(cd.toJSON(cd.toProgram((x) => op(x))([1]))).replace('own/', ''))
    const value = (json: unknown, given: cd.AnyPrimitive) => {
      const read = cd.fromJSON(json, [given])
      if (read._tag === 'Left') throw new Error(cd.explain(read.left))
      return (cd.fromProgram(read.right)([1]) as cd.Tensor).toArray()
    }
    expect(value(plain(halve), halve.primitive)).toEqual([0.5])
    expect(value(plain(tanh), tanh.primitive)).toEqual([Math.tanh(1)])
    expect(cd.fromJSON(plain(halve), [halve.primitive, times('halve', 0.25).primitive])._tag).toBe('Left')
  })
})

describe('an override of a rule of the library', () => {
  it('is said by the primitive itself, and changes it wherever it stands', () => {
    const { primitive } = cd.coreRegistry.rules.get('tanh')!
    const registry = cd.coreRegistry.with(cd.scalarRule(cd.tanh, () => [7]))
    expect(registry.rules.get('tanh')!.primitive).toBe(primitive)
    expect(
      cd
        .makeCodual(registry, cd.cpu())
        .grad((x) => cd.sum(cd.tanh(x)))([0])
        .toArray(),
    ).toEqual([7])
    expect(
      cd
        .grad((x) => cd.sum(cd.tanh(x)))([0])
        .toArray(),
    ).toEqual([1])
  })
  it('does not put a shipped primitive into the plugin that overrides it', () => {
    cd.definePlugin({ name: 'mine', ops: { cosh: cd.cosh }, rules: { cosh: cd.scalarRule(cd.cosh, () => [7]) } })
    expect(applied(cd.toJSON(cd.toProgram((x) => cd.cosh(x))([1])))).toEqual(['cosh'])
  })
})
