/** Checks every primitive of a plugin: its rules, its kernels against its meaning, its lowering, and that programs of it are saved and read back. */

import { cpu } from '../backends/cpu/index.js'
import { type Registry, registryMonoid } from '../core/calculus/rule.js'
import { listOf } from '../core/errors/check-arguments.js'
import { isAdException } from '../core/errors/error.js'
import { explain } from '../core/errors/explain.js'
import { needed, type OptionsFor, readGiven } from '../core/errors/options.js'
import { type Plugin, pluginIn } from '../core/extend/plugin.js'
import type { AsyncBackend, Elements } from '../core/functions/backend.js'
import { evaluateNodes } from '../core/graph/evaluate.js'
import { writtenOut } from '../core/graph/expand.js'
import { asExpr, asNode, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { flatProgram } from '../core/graph/program.js'
import { fromJSONCore, toJSONCore } from '../core/programs/json.js'
import { coreRegistry } from '../packs/all.js'
import { roundingOf } from './derivative.js'
import { random } from './draw.js'
import { type Checked, Collector, lookedToo, together } from './findings.js'
import { Looking } from './looked.js'
import { type CheckOptions, checkOptions } from './program.js'
import { type Counting, counting, overridesIn } from './ran.js'
import { checkKinks, checkSample } from './rule.js'
import { samplesOf, subjectAt } from './sample-subject.js'
import { needSamples } from './sampled.js'
import { bind, type Derived, derivativesOf, derive, drawLike, evaluate, pointOf } from './subject.js'

/** What is checked of one primitive at one sample, beside its rules. */
interface At {
  readonly plugin: Plugin
  readonly primitive: AnyPrimitive
  readonly derived: Derived
  readonly out: Collector
}

/** The results by the lowering of each backend's table are those of the meaning. */
const checkLowering = ({ plugin, primitive, derived: { inputs, ys, env }, out }: At): void => {
  for (const [backend, table] of Object.entries(plugin.kernels)) {
    const facet = table?.get(primitive)
    if (facet?.kind !== 'lower') continue
    const { payload } = ys[0]!
    out.guard(`lower of ${backend}`, () => {
      const roots = writtenOut([facet.f(inputs.map(asExpr), payload as never)].flat().map(asNode))
      const rounding = roundingOf([...roots, ...ys], env)
      out.is('value', `results of lower, ${backend}`, roots.length, ys.length)
      const want = evaluateNodes(ys, env)
      evaluateNodes(roots, env).forEach((v, i) => {
        const place = { shape: v.shape, how: `lower of ${backend} against the meaning` }
        const bound = (): ArrayLike<number> => Float64Array.from(rounding(i)(), (x, k) => x + (rounding(roots.length + i)()[k] ?? 0))
        if (want[i] !== undefined) out.near('value', `result ${i}`, v.data, want[i].data, 1e-12, bound, place)
      })
    })
    return
  }
}
/** The program of one application, written as JSON and read back, gives the same. */
const checkSaved = ({ primitive, derived: { registry, inputs, ys, env }, out }: At): void =>
  out.guard('toJSON and fromJSON', () => {
    const text = JSON.stringify(toJSONCore(flatProgram(primitive.name, inputs, ys)))
    const read = fromJSONCore(registry, [primitive])(JSON.parse(text))
    if (read._tag === 'Left') {
      out.note('raises', 'fromJSON of what toJSON wrote', 0, 'the program', explain(read.left).replace(/\n */g, ' '))
      return
    }
    const again = bind(
      read.right.inputs,
      inputs.map((x) => env.get(x)!),
    )
    const want = evaluateNodes(ys, env)
    evaluateNodes(read.right.outputs, again).forEach((v, i) => {
      out.near('value', `result ${i}`, v.data, want[i]!.data, 0, undefined, { shape: v.shape, how: 'read back from JSON' })
    })
  })

/** The values and derivatives of a subject as a program, with numbers for its symbols. */
const programOf = (name: string, d: Derived, next: () => number) => {
  const symbols = [...d.tangents, ...d.seeds]
  const outputs = [...d.ys, ...derivativesOf(d)]
  const inputs = [...d.inputs, ...symbols]
  const env = new Map<Node, NDArray>([...d.env, ...bind(symbols, drawLike(symbols, next))])
  const float = d.outs.map((y) => d.ys.indexOf(y))
  const paths = [
    ...d.ys.map((_, i) => `result ${i}`),
    ...(d.dys ? float.map((i) => `the tangent of result ${i}`) : []),
    ...(d.xBars ? d.active.map((i) => `the cotangent of ${d.paths[i]}`) : []),
  ]
  return { program: flatProgram(name, inputs, outputs), inputs, outputs, env, paths }
}
const hostData = async (x: Elements): Promise<ArrayLike<number>> => ('read' in x ? x.read() : x)

/** On which backends a primitive has run, and on which it could not: in f64 on one that has none, say. */
interface Ran {
  readonly on: Set<string>
  readonly notOn: Set<string>
}
/** Values and derivatives on backends that answer later. WGSL that does not compile is a finding, with its line. */
const checkLater = async (
  backends: readonly AsyncBackend[],
  { primitive, derived, out }: At,
  next: () => number,
  ran: Ran,
): Promise<void> => {
  const { program, inputs, outputs, env, paths } = programOf(primitive.name, derived, next)
  const want = evaluate(outputs, env)
  const rounding = roundingOf(outputs, env, 'own')
  for (const backend of backends) {
    try {
      const executable = await backend.prepare(program)
      try {
        ran.on.add(backend.name)
        const got = await executable.run(inputs.map((n) => env.get(n)!.data))
        for (const [i, v] of got.entries()) {
          const tolerance = outputs[i]!.dtype === 'f64' ? 1e-9 : 1e-5
          const place = { shape: outputs[i]!.shape, how: backend.name }
          out.near('backend', paths[i]!, await hostData(v), want[i]!.data, tolerance, rounding(i), place)
        }
      } finally {
        executable.dispose()
      }
    } catch (e) {
      const known = isAdException(e) ? e.error : undefined
      // What a backend says that it has not is no mistake of a kernel.
      if (known?._tag === 'MissingKernel' || known?._tag === 'Unsupported') ran.notOn.add(backend.name)
      else
        out.guard(backend.name, () => {
          throw e
        })
    }
  }
}

const settingOf = (given: Plugin | readonly Plugin[], where: string) => {
  const plugins = [given].flat().map((p) => pluginIn(p, where))
  const registry = registryMonoid.concat(
    coreRegistry,
    plugins.reduce<Registry>((r, p) => registryMonoid.concat(r, p.registry), registryMonoid.empty),
  )
  const primitives = plugins.flatMap((p) => [...p.ops.values()])
  needSamples(primitives, where)
  return { plugins, ...counting(registry, primitives) }
}
/** What a plugin's check says beside: which rules ran, whose names codual has too, and the shaders that no device compiled. */
const announced = (c: Checked, plugins: readonly Plugin[], rules: Counting['rules']): Checked => {
  const overrides = [...new Set(plugins.flatMap((p) => overridesIn(p.registry)))]
  const looking = new Looking()
  looking.withoutShaders(
    plugins.flatMap((p) => [...(p.kernels.webgpu ?? [])].flatMap(([{ name }, f]) => (f.kind === 'missing' ? [] : [name]))),
  )
  return lookedToo(c, { rules: rules(), overrides, leftOut: looking.result().leftOut })
}
/** Each primitive of plugins: its rules at its samples and kinks, and what else `check` holds it to. */
const each = (
  plugins: readonly Plugin[],
  registry: Registry,
  options: (p: Plugin) => CheckOptions,
  check: (at: At, seed: number) => void,
): readonly Checked[] =>
  plugins.flatMap((plugin) =>
    [...plugin.ops.values()].flatMap((primitive) => {
      const given = options(plugin)
      const seed = given.seed ?? 1
      const rule = registry.ruleOf(primitive)
      const out = new Collector(
        primitive.name,
        seed,
        given.checks,
        '',
        `checkPlugin(${plugin.name}${given.seed === undefined ? '' : `, { seed: ${seed} }`})`,
      )
      if (primitive.samples.length === 0) out.note('registry', 'samples', 0, 'at least one: nothing was checked', 'none')
      if (rule?.missing !== undefined) out.notImplemented.push(`${primitive.name}: ${rule.missing}`)
      primitive.samples.forEach((sample, i) => {
        out.prefix = `sample ${i}`
        out.guard('the sample', () => {
          const s = subjectAt(registry, primitive, sample, given, random(seed + i))
          if (s === undefined) return
          const derived = derive({ ...s, ...(rule?.missing !== undefined && { active: [] }) })
          out.point = () => pointOf(derived, derived.env)
          check({ plugin, primitive, derived, out }, seed + i)
        })
      })
      const rules =
        rule?.missing !== undefined
          ? []
          : [
              ...samplesOf(primitive).map((s, i) => checkSample(registry, primitive, s, { ...given, seed: seed + i }, `sample ${i}`)),
              checkKinks(registry, primitive, given),
            ]
      return [...rules, out.result()]
    }),
  )

/**
 * A check of every primitive of a plugin (or of several): its rules at all of its samples and kinks, its kernels against its meaning in values and derivatives on `backends` (the
 * CPU backend with the plugin's kernels unless given), its lowering against its meaning, vmap, and a round trip of its programs through JSON. Rules declared `missing` are
 * counted.
 *
 * Errors  BadInput for anything but a plugin, and for asynchronous backends, which `checkPluginAsync` takes.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: scalarRule(twice, () => [2]) }, kernels: { cpu: { twice: perElement() } } })
 * report(checkPlugin(doubling))   // 'ok   doubling: ...'
 */
export const checkPlugin = (plugins: Plugin | readonly Plugin[], given?: CheckOptions): Checked => {
  const options = readGiven(checkOptions, given, 'checkPlugin')
  const { plugins: list, registry, rules } = settingOf(plugins, 'checkPlugin')
  const withCpu = (p: Plugin): CheckOptions => ({
    backends: [cpu(p.kernels.cpu === undefined ? {} : { kernels: p.kernels.cpu })],
    ...options,
  })
  const all = each(list, registry, withCpu, (at) => {
    checkLowering(at)
    checkSaved(at)
  })
  return announced(together(list.map((p) => p.name).join(' + '), all), list, rules)
}

/** Options of `checkPluginAsync`. */
export interface LaterOptions extends Omit<CheckOptions, 'backends' | 'budget' | 'nondeterminism'> {
  /** Backends that answer later, made with the plugin's kernels: `[webgpu({ kernels: plugin.kernels.webgpu })]`. */
  readonly backends: readonly AsyncBackend[]
}
export const laterOptions = {
  seed: checkOptions.seed,
  directions: checkOptions.directions,
  tolerance: checkOptions.tolerance,
  scale: checkOptions.scale,
  modes: checkOptions.modes,
  order: checkOptions.order,
  atol: checkOptions.atol,
  checks: checkOptions.checks,
  backends: needed((given, what, where) => listOf(given, what, where) as readonly AsyncBackend[]),
} satisfies OptionsFor<LaterOptions>
/**
 * A check of the kernels of a plugin on asynchronous backends such as WebGPU: values and derivatives at every sample against the meaning. A shader that does not
 * compile is a finding with its message. Primitives without a kernel on a backend are counted.
 *
 * Errors  BadInput for anything but a plugin.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: scalarRule(twice, () => [2]) } })
 * report(await checkPluginAsync(doubling, { backends: [] }))   // 'ok   doubling: ...'
 */
export const checkPluginAsync = async (plugins: Plugin | readonly Plugin[], given: LaterOptions): Promise<Checked> => {
  const { backends = [], ...options } = readGiven(laterOptions, given, 'checkPluginAsync')
  const { plugins: list, registry } = settingOf(plugins, 'checkPluginAsync')
  const results: Checked[] = []
  for (const plugin of list)
    for (const primitive of plugin.ops.values()) {
      const seed = options.seed ?? 1
      const out = new Collector(primitive.name, seed, options.checks, '', `checkPluginAsync(${plugin.name}, { backends, seed: ${seed} })`)
      const missing = registry.ruleOf(primitive)?.missing !== undefined
      const ran: Ran = { on: new Set(), notOn: new Set() }
      for (const [i, sample] of primitive.samples.entries()) {
        out.prefix = `sample ${i}`
        for (const float of ['f64', 'f32'] as const) {
          let derived: Derived | undefined
          out.guard('the sample', () => {
            const s = subjectAt(registry, primitive, sample, options, random(seed + i), float)
            derived = s === undefined ? undefined : derive({ ...s, ...(missing && { active: [] }) })
          })
          if (derived === undefined) continue
          const at = derived
          out.point = () => pointOf(at, at.env)
          await checkLater(backends, { plugin, primitive, derived: at, out }, random(seed + i), ran)
        }
      }
      for (const name of ran.notOn) if (!ran.on.has(name)) out.notImplemented.push(`${name}: ${primitive.name}`)
      results.push(out.result())
    }
  return together(list.map((p) => p.name).join(' + '), results)
}
