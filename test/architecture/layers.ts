// The layers of src, as data, and what breaks them: an import (of types too) that a layer may not have, and an import cycle.
import { importsOf, resolveImport, type Source } from './sources.js'

/** What the files of one layer may import: other layers (or the composition root, as users do) and packages (a dynamic `import()` may also name `optional` ones). */
export interface Layer {
  readonly layers: readonly string[]
  /** Folders of other layers, and the composition root, where not a whole layer may be imported. */
  readonly parts?: readonly string[]
  readonly packages: readonly string[]
  readonly optional?: readonly string[]
}

const fp = ['fp-ts', 'io-ts']

/** The layers by folder; the longest matching folder decides. Each layer may import itself. */
export const layers: Readonly<Record<string, Layer>> = {
  'src/core': { layers: [], packages: fp },
  'src/rules': { layers: ['src/core'], packages: fp },
  'src/modes': { layers: ['src/core'], packages: fp },
  'src/backends': { layers: ['src/core'], packages: fp },
  'src/backends/plan': { layers: ['src/core', 'src/backends'], packages: fp },
  'src/backends/reference': { layers: ['src/core', 'src/backends'], packages: fp },
  'src/backends/cpu': { layers: ['src/core', 'src/backends', 'src/backends/plan'], packages: fp, optional: ['koffi', 'node:'] },
  // The entry codual/blas.
  'src/backends/blas': { layers: ['src/core', 'src/backends', 'src/backends/plan', 'src/backends/cpu'], packages: ['node:'] },
  // The entry codual/threads.
  'src/backends/threads': { layers: ['src/core', 'src/backends', 'src/backends/plan', 'src/backends/cpu'], packages: [] },
  // The entry codual/worker: programs are sent as data, and read where every primitive is known.
  'src/backends/worker': { layers: ['src/core', 'src/backends', 'src/backends/cpu', 'src/packs'], packages: [] },
  'src/backends/webgpu': { layers: ['src/core', 'src/backends', 'src/backends/plan'], packages: fp, optional: ['webgpu', 'node:'] },
  // The entry codual/onnxruntime: a program is written as a file, and that is run.
  'src/backends/onnxruntime': {
    layers: ['src/core', 'src/backends', 'src/onnx/write'],
    packages: [],
    optional: ['onnxruntime-node', 'onnxruntime-web'],
  },
  // The composition root: what binds the operators to rules and a backend.
  'src/instance': {
    layers: ['src/core', 'src/rules', 'src/packs', 'src/modes', 'src/backends/cpu', 'src/backends/reference'],
    packages: [],
  },
  // Modules that stand in the place of others in Node (tsup.config.ts).
  'src/node': { layers: ['src/backends/webgpu', 'src/backends/worker'], packages: ['io-ts', 'node:'] },
  'src/check': {
    layers: [
      'src/core',
      'src/rules',
      'src/packs',
      'src/modes',
      'src/backends',
      'src/backends/plan',
      'src/backends/reference',
      'src/backends/cpu',
      'src/backends/webgpu',
    ],
    packages: [...fp, 'fast-check'],
    optional: ['vitest'],
  },
  // Operations with the pack that they need.
  'src/families': { layers: ['src/core', 'src/packs'], packages: [] },
  // Compositions: operations, and what core checks of what it is given.
  'src/library': { layers: ['src/core', 'src/families', 'src/packs'], packages: [] },
  // What a family has beside its declarations; and everything, for those who list it.
  'src/packs': { layers: ['src/core', 'src/rules', 'src/backends', 'src/backends/plan', 'src/backends/cpu'], packages: [] },
  // As users' libraries: the public interface, and the checks of options that every public function makes.
  'src/display': { layers: [], parts: ['src/index.ts', 'src/core/errors'], packages: [] },
  // How numbers of half precision are read is known where safetensors are.
  'src/onnx': {
    layers: ['src/onnx/write'],
    parts: ['src/index.ts', 'src/core/errors', 'src/train/dtypes.ts'],
    packages: ['fp-ts', '@bufbuild/protobuf'],
  },
  // Writing looks into programs, as backends do, and composes of the public operations what has no operator.
  'src/onnx/write': {
    layers: ['src/core'],
    parts: ['src/index.ts', 'src/onnx/narrow.ts', 'src/onnx/schema.ts'],
    packages: ['@bufbuild/protobuf'],
  },
  // The rules of shapes are types alone: nothing of them is there at run time.
  'src/optim': { layers: [], parts: ['src/index.ts', 'src/core/errors', 'src/core/types'], packages: [] },
  // Drivers on numbers: the function is compiled once, and the loop is plain JavaScript.
  'src/minimize': { layers: ['src/solve'], parts: ['src/index.ts', 'src/core/errors'], packages: [] },
  // The entry codual/mpi: primitives with their rules and their pack, what carries them out, and ranks as `fit` declares them.
  'src/mpi': {
    layers: ['src/core', 'src/rules'],
    parts: ['src/index.ts', 'src/instance/context.ts', 'src/check/draw.ts', 'src/train/fit/types.ts'],
    packages: ['fp-ts', 'node:'],
  },
  'src/nn': { layers: ['src/random'], parts: ['src/index.ts', 'src/core/errors'], packages: [] },
  // Distributions and inference: samplers are those of random, modes are found by minimize, guides are fitted by optim.
  'src/prob': {
    layers: ['src/random', 'src/solve', 'src/minimize', 'src/optim'],
    parts: ['src/index.ts', 'src/core/errors', 'src/core/types'],
    packages: [],
  },
  'src/random': { layers: [], parts: ['src/index.ts', 'src/core/errors', 'src/core/types'], packages: [] },
  'src/solve': { layers: ['src/random'], parts: ['src/index.ts', 'src/core/errors'], packages: [] },
  // `fit` makes its steps by the optimisers' updates.
  'src/train': {
    layers: ['src/optim'],
    parts: ['src/index.ts', 'src/core/errors'],
    packages: ['fp-ts'],
    optional: ['cli-progress', 'node:'],
  },
}

/** The rooms of src/core from the lowest floor up. At run time a file imports its own room and those below. */
export const rooms: readonly string[] = ['types', 'errors', 'matrices', 'graph', 'ops', 'calculus', 'functions', 'extend', 'programs']

/** The one file that may hand on what is in any layer. */
export const compositionRoot = 'src/index.ts'

/** The layer of a file: the longest folder of `layers` that holds it. */
export const layerOf = (path: string): string | undefined =>
  Object.keys(layers)
    .filter((folder) => path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0]

const inPackage = (specifier: string, name: string): boolean =>
  name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)

/** Every import that breaks the layers, as a sentence. */
export const layerViolations = (sources: readonly Source[]): readonly string[] => {
  const paths = new Set(sources.map((source) => source.path))
  const broken: string[] = []
  for (const source of sources) {
    const isRoot = source.path === compositionRoot
    const own = layerOf(source.path)
    if (own === undefined && !isRoot) {
      broken.push(`${source.path} is in no layer`)
      continue
    }
    const layer: Layer = own === undefined ? { layers: Object.keys(layers), packages: fp } : (layers[own] as Layer)
    for (const { specifier, dynamic } of importsOf(source)) {
      const target = resolveImport(source.path, specifier)
      if (target === undefined) {
        const allowed = dynamic ? [...layer.packages, ...(layer.optional ?? [])] : layer.packages
        if (!allowed.some((name) => inPackage(specifier, name))) broken.push(`${source.path} imports the package ${specifier}`)
        continue
      }
      if (!paths.has(target)) {
        broken.push(`${source.path} imports ${specifier}, which is no file of src (relative imports end in .js)`)
        continue
      }
      const to = layerOf(target)
      if (layer.parts?.some((part) => target === part || target.startsWith(`${part}/`)) === true) continue
      if (to === undefined || (to !== own && !layer.layers.includes(to))) broken.push(`${source.path} imports ${target}`)
    }
  }
  return broken
}

/**
 * The import cycles: the strongly connected groups of more than one file, or a file that imports itself (Tarjan 1972).
 * `import type` is erased, so types that are defined in terms of each other may live in two files.
 */
export const cycles = (sources: readonly Source[]): readonly (readonly string[])[] => {
  const paths = new Set(sources.map((source) => source.path))
  const edges = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source).flatMap(({ specifier, erased }) => {
        const target = erased ? undefined : resolveImport(source.path, specifier)
        return target !== undefined && paths.has(target) ? [target] : []
      }),
    ]),
  )
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const found: string[][] = []
  const visit = (path: string): void => {
    const order = index.size
    index.set(path, order)
    let lowest = order
    stack.push(path)
    onStack.add(path)
    for (const target of edges.get(path) ?? []) {
      if (!index.has(target)) {
        visit(target)
        lowest = Math.min(lowest, low.get(target) as number)
      } else if (onStack.has(target)) lowest = Math.min(lowest, index.get(target) as number)
    }
    low.set(path, lowest)
    if (lowest !== order) return
    const group = stack.splice(stack.indexOf(path))
    for (const member of group) onStack.delete(member)
    if (group.length > 1 || (edges.get(path) ?? []).includes(path)) found.push(group.sort())
  }
  for (const path of edges.keys()) if (!index.has(path)) visit(path)
  return found
}

const roomOf = (path: string): string | undefined => /^src\/core\/([^/]+)\//.exec(path)?.[1]

/** Every file of core in no room, and every import at run time of a higher room. */
export const floorViolations = (sources: readonly Source[]): readonly string[] =>
  sources
    .filter(({ path }) => path.startsWith('src/core/'))
    .flatMap((source) => {
      const room = roomOf(source.path)
      const floor = room === undefined ? -1 : rooms.indexOf(room)
      if (floor < 0) return [`${source.path} is in no room`]
      return importsOf(source).flatMap(({ specifier, erased }) => {
        const target = erased ? undefined : resolveImport(source.path, specifier)
        const to = target === undefined ? undefined : roomOf(target)
        return to !== undefined && rooms.indexOf(to) > floor ? [`${source.path} imports ${target}, which is above it`] : []
      })
    })

/**
 * What lists every primitive, and what is built on everything else: each imported, at run time, by these files and folders alone. Types of the tables are for whoever has
 * rows of them.
 */
export const importers: Readonly<Record<string, readonly string[]>> = {
  'src/core/ops/families.ts': [
    'src/packs',
    'src/backends/cpu/facets.ts',
    'src/backends/cpu/special.ts',
    'src/backends/webgpu/facets.ts',
    'src/instance/plugins.ts', // the plugin of everything that is shipped
  ],
  'src/families': ['src/index.ts', 'src/library'],
  'src/library': ['src/index.ts'],
}
/** The same with types: who has rows of a table. */
const typedBy: Readonly<Record<string, readonly string[]>> = { 'src/core/ops/families.ts': ['src/rules', 'src/backends', 'src/onnx/write'] }

const within = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`)
/** Every import of such a file by somebody else. */
export const importerViolations = (sources: readonly Source[]): readonly string[] =>
  Object.entries(importers).flatMap(([what, allowed]) =>
    sources
      .filter(({ path }) => !within(path, what))
      .flatMap((source) =>
        importsOf(source).flatMap(({ specifier, erased }) => {
          const target = resolveImport(source.path, specifier)
          if (target === undefined || !within(target, what)) return []
          const may = erased ? [...allowed, ...(typedBy[what] ?? [])] : allowed
          return may.some((part) => within(source.path, part)) ? [] : [`${source.path} imports ${target}`]
        }),
      ),
  )
/** Who may import such a file and does not. */
export const unneededImporters = (sources: readonly Source[]): readonly string[] =>
  Object.entries(importers).flatMap(([what, allowed]) =>
    allowed.filter(
      (part) =>
        !sources.some(
          (source) =>
            within(source.path, part) &&
            importsOf(source).some(({ specifier, erased }) => !erased && within(resolveImport(source.path, specifier) ?? '', what)),
        ),
    ),
  )
