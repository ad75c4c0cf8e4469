// One more primitive is one error in each missing facet's file, and none anywhere else: the compiler's errors are the to-do list.
// The source is compiled and run as it would be with the changes; nothing of it is touched. What is added is written in docs/architecture.md.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const src = join(root, 'src')
const read = (path: string): string => readFileSync(join(src, path), 'utf8')

const failing = (text: string): never => {
  throw new Error(text)
}
const config = ts.getParsedCommandLineOfConfigFile(
  join(root, 'tsconfig.src.json'),
  {},
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (d) => failing(ts.flattenDiagnosticMessageText(d.messageText, '\n')) },
)
const { options, fileNames } = config ?? failing('tsconfig.src.json not found')
const host = ts.createCompilerHost(options)
const parsed = new Map<string, ts.SourceFile | undefined>()

/** The program with other texts for some files of src. */
const compiled = (texts: Readonly<Record<string, string>>, before?: ts.Program): ts.Program => {
  const own = new Map(
    Object.entries(texts).map(([path, text]) => [join(src, path), ts.createSourceFile(join(src, path), text, ts.ScriptTarget.ES2022)]),
  )
  return ts.createProgram({
    rootNames: fileNames,
    options,
    host: {
      ...host,
      getSourceFile: (path, target) => {
        const replaced = own.get(path)
        if (replaced !== undefined) return replaced
        if (!parsed.has(path)) parsed.set(path, host.getSourceFile(path, target))
        return parsed.get(path)
      },
    },
    ...(before && { oldProgram: before }),
  })
}
interface Fault {
  readonly file: string
  readonly text: string
}
const faults = (program: ts.Program, files?: readonly string[]): readonly Fault[] =>
  (files === undefined
    ? program.getSourceFiles().filter((f) => !program.isSourceFileDefaultLibrary(f))
    : files.map((f) => program.getSourceFile(join(src, f))!)
  )
    .flatMap((f) => [...program.getSyntacticDiagnostics(f), ...program.getSemanticDiagnostics(f)])
    .map((d) => ({ file: (d.file?.fileName ?? '').replace(`${src}/`, ''), text: ts.flattenDiagnosticMessageText(d.messageText, '\n') }))
    .sort((a, b) => (a.file < b.file ? -1 : 1))

/** A file with a declaration after its own. */
const declared = (path: string, declaration: string): string => `${read(path)}\n${declaration}\n`
/** Where a table of a family, or of one that holds it, begins. */
const tableOf = (family: string): RegExp => new RegExp(`export const \\w+: [^=]*typeof (?:${family})\\b[^=]*= (?:withTaylor\\(\\s*)?\\{`)
/** A facet's table with a row for it. */
const withRow = (path: string, family: string, row: string, text = read(path)): string => {
  const table = tableOf(family)
  if (!table.test(text)) failing(`no table of ${family} in ${path}`)
  return text.replace(table, (start) => `${start} ${row}`)
}

/** Every file that has a facet of a family: its rules, and its kernels in each backend that has tables by family. */
const facetsOf = (family: string): readonly string[] =>
  ['rules', ...readdirSync(join(src, 'backends')).map((b) => `backends/${b}`)]
    .filter((folder) => statSync(join(src, folder)).isDirectory())
    .flatMap((folder) => readdirSync(join(src, folder)).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.ts') && tableOf(family).test(read(file)))
/** The family of exponentials and their kin, and the one that it is of. */
const FUNCTIONS = 'exponentials|elementwise'

/** What docs/architecture.md writes into a file: its blocks that begin with a path. */
const steps = [...readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(/^```ts src\/(\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, path, code]) => ({ path: path!, code: code!.trimEnd() }),
)
const [declaration, ...rows] = steps
const declaring = { [declaration!.path]: declared(declaration!.path, declaration!.code) }
const complete = { ...declaring, ...Object.fromEntries(rows.map(({ path, code }) => [path, withRow(path, FUNCTIONS, code)])) }

/** A function with a pole at 0.3, added by the same four places and with nothing said of it: what is not seen there has no say. */
const POLE = {
  'core/ops/exponentials.ts': `export const pole: FloatUnaryOp<'pole'> = unary({ name: 'pole', scalar: (x) => 1 / Math.tanh(x! - 0.3), domain: [[1, 2]], source: 'test' })`,
  'rules/functions.ts': `pole: scalarRule(op.pole, ({ y }) => [sub(1, mul(y, y))]),`,
  'backends/cpu/functions.ts': 'pole: (c) => c.viaMeaning(),',
  'backends/webgpu/elementwise.ts': `pole: row('1.0 / cd_tanh(a - 0.3)'),`,
} as const
/** A reduction with a pole, added by four places too and with no fact said of it: its derivative is a product that the rule asks for, or one that it writes out. */
const reduction = (name: string, product: string) => ({
  family: 'reduce',
  'core/ops/reduce.ts': `export const ${name}Primitive: Primitive<'${name}', ReduceParams, readonly ['float']> = primitive({
  name: '${name}', family: 'reduce', args: ['float'], codec: reduceCodec, dtypes: ['float'], shapeRule: reduceShape,
  meaning: ([x], { axes }, [out]) => {
    const total = new Float64Array(out!.data.length)
    eachReduced(x!, axes, (o, i) => { total[o]! += 1 / x!.data[i]! })
    out!.data.set(total as never)
  },
  samples: reduceSamples([1, 2]), source: 'test',
})`,
  'rules/reduce.ts': `${name}: rule(op.${name}Primitive, {
    frule: ([x], [dx], { axes }, { y, config }) => [y, dx._tag === 'Expr' ? total(${product}(dx, div(div(-1, x), x)), axes) : ZeroTangent],
    rrule: ([x], { axes }, { y, config }) => [y, (yBar: AnyExpr) => [thunk(() => ${product}(expandReduced(yBar, x, axes), div(div(-1, x), x)))] as const],
    batch: ([x], _b, { axes }) => reapply(op.${name}Primitive, [x], { axes: shiftAxes(axes) }),
  }),`,
  'backends/cpu/reduce.ts': `${name}: { kind: 'byMeaning', reason: 'a test' },`,
  'backends/webgpu/reduce.ts': `${name}: undefined as never,`,
})
const MORE = [reduction('sumInverse', 'config.product'), reduction('writtenOut', '((a: AnyExpr, b: AnyExpr) => div(a, div(1, b)))')]
const withMore = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const made: Record<string, string> = { ...texts }
  for (const { family, ...files } of MORE)
    for (const [path, code] of Object.entries(files)) {
      const text = made[path] ?? read(path)
      made[path] = path.startsWith('core/') ? `${text}\n${code}\n` : withRow(path, family, code, text)
    }
  return made
}
const withPole = Object.fromEntries(
  Object.entries(complete).map(([path, text]) => {
    const code = POLE[path as keyof typeof POLE]
    return [path, path.startsWith('core/') ? `${text}\n${code}\n` : withRow(path, FUNCTIONS, code, text)]
  }),
)

/** Primitives with arguments of their own: files, each with what stands behind its imports and the row in its family's table. */
interface Added {
  readonly family: string
  readonly files: Readonly<Record<string, { readonly code?: string; readonly row?: string; readonly first?: string }>>
}
/** A factorisation: twice that of cholesky, of which nothing is said beside its shape and its meaning. */
const FACTOR: Added = {
  family: 'linalg',
  files: {
    'core/ops/linalg/factorisations.ts': {
      code: `export const twiceCholeskyPrimitive: Primitive<'twiceCholesky', NoParams, readonly ['float']> = primitive({
        name: 'twiceCholesky', family, args: ['float'], dtypes: ['float'], source: 'test',
        shapeRule: ([x]) => {
          squareAxes(x!.shape, 'twiceCholesky')
          return x!
        },
        meaning: ([a], params, [l]) => {
          choleskyPrimitive.meaning([a!], params, [l!])
          for (let i = 0; i < l!.data.length; i++) l!.data[i]! *= 2
        },
        samples: [{ args: [square([3, 3], definite)], params: NO_PARAMS }, { args: [square([2, 2, 2], definite)], params: NO_PARAMS }],
      })`,
    },
    'rules/systems.ts': {
      first: `import { twiceCholeskyPrimitive } from '../core/ops/linalg/factorisations.js'\nimport { mean, phi } from './matrices.js'`,
      row: `twiceCholesky: rule(twiceCholeskyPrimitive, {
        frule: ([a], [da], _params, { y }) => {
          const dx = forced(da)
          const over = (x: AnyExpr): AnyExpr => solveIn(mul(y, 0.5), x, { lower: true, transpose: false, unitDiagonal: false })
          return dx === undefined ? [y, ZeroTangent] : [y, product(y, phi(t(over(t(over(mean(dx)))))))]
        },
        rrule: (_xs, _params, { y }) => [y, (yBar: AnyExpr) => [thunk(() => {
          const l = mul(y, 0.5)
          const over = (x: AnyExpr): AnyExpr => solveIn(l, x, { lower: true, transpose: true, unitDiagonal: false })
          return mean(over(t(over(phi(product(t(l), mul(yBar, 2)))))))
        })] as const],
        batch: ([a]) => reapply(twiceCholeskyPrimitive, [a], NO_PARAMS),
      }),`,
    },
    'packs/systems.ts': {
      first: `import { twiceCholeskyPrimitive } from '../core/ops/linalg/factorisations.js'`,
    },
    'backends/cpu/linalg.ts': {
      first: `import { byMeaning } from '../../core/extend/kernel-table.js'`,
      row: `twiceCholesky: byMeaning('test'),`,
    },
    'backends/webgpu/linalg.ts': {
      first: `import { missing } from '../../core/extend/kernel-table.js'`,
      row: `twiceCholesky: missing('test'),`,
    },
  },
}
/** Indexing: elements along an axis at places that are counted from its end, of which nothing is said either. */
const INDEX: Added = {
  family: 'indexing',
  files: {
    'core/ops/indexing/along.ts': {
      code: `export const takeBackPrimitive: Primitive<'takeBack', AxisParams, readonly ['float', 'int']> = primitive({
        name: 'takeBack', family, args: ['float', 'int'], codec: axisCodec, dtypes: ['any', 'i32'], source: 'test',
        shapeRule: ([x, indices], { axis }) => aval(takenShape('takeBack', x!, indices!, axis), x!.dtype),
        meaning: ([x, indices], { axis }, [out]) => {
          const { before, size, after } = aroundAxis(x!.shape, axis)
          const count = indices!.shape[axis]!
          let k = 0
          for (let b = 0; b < before; b++) for (let i = 0; i < count; i++) for (let c = 0; c < after; c++, k++)
            out!.data[k] = x!.data[(b * size + size - 1 - indices!.data[k]!) * after + c]!
        },
        samples: [{ args: [{ shape: [4] }, at([3], [2, 0, 2])], params: { axis: 0 } }, { args: [{ shape: [2, 3] }, at([2, 2], [0, 2, 1, 1])], params: { axis: 1 } }],
      })`,
    },
    'rules/indexing.ts': {
      first: `import { takeBackPrimitive } from '../core/ops/indexing/along.js'\nimport { sub } from '../core/ops/elementwise.js'`,
      row: `takeBack: linearRule(takeBackPrimitive, {
        transpose: (yBar, [x, indices], p) => [
          addedInto(x, (acc) => reapply(scatterAddAlongPrimitive, [acc, sub(dims(x)[p.axis]! - 1, indices), yBar], p)),
          NoTangent,
        ],
        batch: (xs, batched, { axis }, size) => reapply(takeBackPrimitive, batchAll(xs, batched, size), { axis: axis + 1 }),
      }),`,
    },
    'backends/cpu/indexing.ts': { row: `takeBack: byMeaning('test'),` },
    'backends/webgpu/indexing.ts': {
      first: `import { missing } from '../../core/extend/kernel-table.js'`,
      row: `takeBack: missing('test'),`,
    },
  },
}
const withAdded = (texts: Readonly<Record<string, string>>, { family, files }: Added): Readonly<Record<string, string>> => ({
  ...texts,
  ...Object.fromEntries(
    Object.entries(files).map(([path, { code, row, first }]) => {
      const text = [first, texts[path] ?? read(path), code].filter((x) => x !== undefined).join('\n')
      if (path === 'packs/systems.ts')
        return [path, text.replace('const primitives = {', 'const primitives = { twiceCholesky: twiceCholeskyPrimitive,')]
      return [path, row === undefined ? text : withRow(path, family, row, text)]
    }),
  ),
})
const everything = [FACTOR, INDEX].reduce(withAdded, withMore(withPole))

const declarationOf = (name: string, family: string): string =>
  `declareProbe({ name: '${name}', family: '${family}', args: ['float'], shapeRule: ([x]) => x!, meaning: () => undefined, source: 'test' })`
/** Primitives of families whose operations have parameters: each in a module of primitives. */
const probes = {
  indexing: {
    name: 'probeIndex',
    path: 'core/ops/indexing/along.ts',
    code: `export const probeIndex = ${declarationOf('probeIndex', 'indexing')}`,
  },
  nn: {
    name: 'probeLayer',
    path: 'core/ops/pool.ts',
    code: `export const probeLayer = ${declarationOf('probeLayer', 'nn')}`,
  },
} as const
const probed = Object.keys(probes) as (keyof typeof probes)[]

const added = Object.fromEntries(
  Object.values(probes).map(({ path, code }) => [
    path,
    declared(path, `import { primitive as declareProbe } from '${'../'.repeat(path.split('/').length - 2)}graph/primitive.js'\n${code}`),
  ]),
)

/** The source with the page's declaration and the probes, and no row of theirs: to check all of it takes as long as to compile the library, so it is done once. */
const withoutRows = compiled({ ...declaring, ...added })
let found: readonly Fault[] = []
beforeAll(() => {
  found = faults(withoutRows)
}, 600_000)
/** What the compiler says of a declaration: faults that name it. */
const ofName = (name: string): readonly Fault[] => found.filter((f) => f.text.includes(`'${name}'`))

describe('one more operation, as docs/architecture.md has it', () => {
  it('is four places in four files: its declaration, and a row in each file of its family', () => {
    expect(steps.length).toBe(4)
    expect(new Set(steps.map((s) => s.path)).size).toBe(4)
    expect(declaration!.path).toMatch(/^core\/ops\//)
    expect(rows.map((r) => r.path).sort()).toEqual([...facetsOf(FUNCTIONS)].sort())
  })

  it('after the first the compiler lists the other three, and nothing else', () => {
    const named = ofName('sech')
    expect(named.map((f) => f.file)).toEqual(rows.map((r) => r.path).sort())
    for (const f of named) expect(f.text).toContain("'sech' is missing")
    const others = probed.flatMap((family) => ofName(probes[family].name))
    expect(found.filter((f) => !named.includes(f) && !others.includes(f))).toEqual([])
  })

  it('after all of them it compiles, and users see its type and its docstring', () => {
    const after = compiled({ ...added, ...complete }, withoutRows)
    expect(faults(after, [...Object.keys(complete), 'index.ts'])).toEqual([])
    const checker = after.getTypeChecker()
    const index = checker.getSymbolAtLocation(after.getSourceFile(join(src, 'index.ts'))!)!
    const sech = checker.getExportsOfModule(index).find((s) => s.name === 'sech')!
    expect(checker.typeToString(checker.getTypeOfSymbol(sech))).toBe('FloatUnaryOp<"sech">')
    expect(ts.displayPartsToString(sech.getDocumentationComment(checker))).toContain('the hyperbolic secant')
  }, 120_000)

  it('then it runs everywhere, and the generated tests have it', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `
          export * as codual from './src/index.js'
          export { families } from './src/core/ops/families.js'
          export { cpuFamilies, ruleFamilies } from './src/packs/all.js'
          export { elementwiseKernels } from './src/backends/webgpu/elementwise.js'
          export { floatFunctions } from './test/backends/accuracy.js'
          export { makeCheck } from './src/check/index.js'`,
        resolveDir: root,
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      write: false,
      plugins: [
        {
          name: 'as the page has it',
          setup: ({ onLoad }) =>
            onLoad({ filter: /\.ts$/ }, ({ path }) => {
              const contents = everything[relative(src, path).replaceAll('\\', '/')]
              return contents === undefined ? undefined : { contents, loader: 'ts' }
            }),
        },
      ],
    })
    const folder = join(root, 'out')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `one-more-${process.pid}.mjs`)
    writeFileSync(file, outputFiles[0]!.text)
    try {
      const { codual, families, ruleFamilies, cpuFamilies, elementwiseKernels, floatFunctions, makeCheck } = await import(file)
      const { sech, evaluate, grad, compile, cpu, reference, sum, coreRegistry } = codual
      expect(evaluate(sech([0, 1])).toArray()).toEqual([1, 1 / Math.cosh(1)])
      for (const backend of [cpu(), reference()])
        expect(
          compile(
            grad((x: unknown) => sum(sech(x))),
            backend,
          )([1]).toArray()[0],
        ).toBeCloseTo(-Math.tanh(1) / Math.cosh(1), 14)
      const prim = families.elementwise.sech
      expect(sech.primitive).toBe(prim)
      for (const table of [ruleFamilies.elementwise, cpuFamilies.elementwise, elementwiseKernels])
        expect(Object.keys(table)).toContain('sech')
      expect(coreRegistry.rules.get('sech').primitive).toBe(prim)
      expect(floatFunctions).toContain(prim)
      for (const mode of ['mixed', 'reverse', 'forward'])
        for (const backend of [cpu(), reference()]) {
          const g = grad((x: unknown) => sum(codual.slice(codual.pole(x), [1], [2])), { mode })
          const [unseen, seen] = compile(g, backend)([0.3, 1]).toArray()
          expect([mode, unseen]).toEqual([mode, 0])
          expect(seen).toBeCloseTo(1 - 1 / Math.tanh(0.7) ** 2, 12)
        }
      const more = families.reduce.sumInverse
      const reduced = (x: unknown): unknown => codual.applyPrimitive(more, [x], { axes: [1] })
      const direct = (x: unknown) => sum([reduced(x)].flat()[0])
      for (const mode of ['mixed', 'reverse', 'forward'])
        for (const backend of [cpu(), reference()]) {
          const of = (f: unknown) => compile(f as never, backend)
          expect(of(grad(direct, { mode }))([[1, 2], [4, 5]]).toArray()).toEqual([[-1, -1 / 4], [-1 / 16, -1 / 25]]) // biome-ignore format: rows
          const unseen = grad((x: unknown) => sum(codual.slice([reduced(x)].flat()[0], [1], [2])), { mode })
          expect([mode, of(unseen)([[0, 2], [4, 5]]).toArray()]).toEqual([mode, [[0, 0], [-1 / 16, -1 / 25]]]) // biome-ignore format: rows
        }
      // Second derivatives of the reduction, and under vmap: d^2/dx^2 of 1/x is 2/x^3.
      const second = grad((x: unknown) => sum(grad(direct)(x)))
      expect(second([[1, 2]]).toArray()).toEqual([[2, 0.25]])
      expect(codual.vmap(grad((x: unknown) => sum([codual.applyPrimitive(more, [x], { axes: [0] })].flat()[0])))([[1, 2], [4, 5]]).toArray()).toEqual([[-1, -1 / 4], [-1 / 16, -1 / 25]]) // biome-ignore format: rows
      const near = (a: unknown, b: unknown): void => {
        const [x, y] = [a, b].map((v) => [(v as { toArray: () => unknown }).toArray() as number[]].flat(4))
        expect(x!.length).toBe(y!.length)
        x!.forEach((v, i) => {
          expect(v).toBeCloseTo(y![i]!, 10)
        })
      }
      /** Of f, and of what is the same of shipped operations: values and derivatives in every mode, on both backends. */
      const alike = (f: (x: unknown) => unknown, g: (x: unknown) => unknown, x: unknown, dx: unknown, stack: unknown): void => {
        const loss = (h: (x: unknown) => unknown) => (v: unknown) => sum(codual.sin(h(v)))
        for (const backend of [cpu(), reference()]) {
          const of = (h: unknown, v: unknown) => compile(h as never, backend)(v as never)
          near(of(f, x), of(g, x))
          for (const mode of ['mixed', 'reverse', 'forward']) near(of(grad(loss(f), { mode }), x), of(grad(loss(g), { mode }), x))
          near(
            of((v: unknown) => codual.jvp(loss(f))(v, dx)[1], x),
            of((v: unknown) => codual.jvp(loss(g))(v, dx)[1], x),
          )
          near(of(codual.vmap(grad(loss(f))), stack), of(codual.vmap(grad(loss(g))), stack))
          const twice = (h: (x: unknown) => unknown) => grad((v: unknown) => sum(codual.square(grad(loss(h))(v))))
          near(of(twice(f), x), of(twice(g), x))
        }
      }
      const own =
        (p: unknown, params: unknown, ...more: readonly unknown[]) =>
        (x: unknown) =>
          [codual.applyPrimitive(p, [x, ...more], params)].flat()[0]
      const definite = [[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]] // biome-ignore format: rows
      const twiceCholesky = families.linalg.twiceCholesky
      alike(own(twiceCholesky, {}), (x) => codual.mul(2, own(families.linalg.cholesky, {})(x)), definite, [[1, 0.5, 0], [0.5, 2, 1], [0, 1, 1]], [definite, [[2, 0, 0], [0, 3, 1], [0, 1, 5]]]) // biome-ignore format: rows
      const { takeBack } = families.indexing
      const places = [[0, 2], [1, 1]] // biome-ignore format: rows
      alike(
        own(takeBack, { axis: 1 }, codual.tensor(places, 'i32')),
        (x) => codual.takeAlongAxis(codual.flip(x, { axis: 1 }), codual.tensor(places, 'i32'), { axis: 1 }),
        [[1, 2, 3], [4, 5, 6]],
        [[1, 0, 2], [0, 1, 1]],
        [[[1, 2, 3], [4, 5, 6]], [[0, 1, 0], [2, 0, 1]]],
      ) // biome-ignore format: rows
      for (const p of [twiceCholesky, takeBack])
        for (const sample of p.samples) expect(makeCheck(coreRegistry).checkRule(p, { sample })).toMatchObject({ _tag: 'Right' })
      const checked = (p: { readonly samples: readonly unknown[] }): readonly string[] =>
        p.samples.map((sample) => makeCheck(coreRegistry).checkRule(p, { sample })._tag)
      expect(new Set(checked(more))).toEqual(new Set(['Right']))
      // Nobody holds a product that is written out: the checker finds it.
      expect(checked(families.reduce.writtenOut).filter((tag) => tag !== 'Right').length).toBeGreaterThan(0)
      for (const sample of prim.samples) expect(makeCheck(coreRegistry).checkRule(prim, { sample })).toMatchObject({ _tag: 'Right' })
    } finally {
      rmSync(file)
    }
  }, 300_000)
})

describe('one more primitive of other families', () => {
  it('is exactly one error in the file of each missing facet, which names it', () => {
    const wanted = probed.flatMap((family) => facetsOf(family).map((file) => ({ file, name: probes[family].name })))
    const named = probed.flatMap((family) => ofName(probes[family].name))
    expect(named.map((f) => f.file).sort()).toEqual(wanted.map((w) => w.file).sort())
    for (const { file, name } of wanted) expect(named.find((f) => f.file === file)?.text).toContain(`'${name}' is missing`)
  })

  it('compiles when its rows are there', () => {
    const rows = Object.fromEntries(
      probed.flatMap((family) =>
        facetsOf(family).map((file) => {
          const { name } = probes[family]
          const row = file.startsWith('rules/')
            ? `${name}: { primitive: undefined as never },`
            : file.startsWith('backends/cpu/')
              ? `${name}: byMeaning('a test'),`
              : `${name}: undefined as never,`
          return [file, withRow(file, family, row)]
        }),
      ),
    )
    // Rows of a typed table change no type, so only their own files are checked again.
    expect(faults(compiled({ ...declaring, ...added, ...rows }, withoutRows), Object.keys(rows))).toEqual([])
  }, 120_000)
})
