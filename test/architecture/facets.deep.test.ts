// One more primitive is one error in each missing facet's file, and none anywhere else: the compiler's errors are the to-do list.
// The source is compiled and run as it would be with the changes; nothing of it is touched. What is added is written in docs/architecture.md.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

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
  'backends/cpu/functions.ts': 'pole: viaMeaning,',
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
  'backends/cpu/reduce.ts': `${name}: byMeaning('a test'),`,
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

const everything = withMore(withPole)

describe('one more operation, as docs/architecture.md has it', () => {
  const before = compiled(declaring)

  it('is four places in four files: its declaration, and a row in each file of its family', () => {
    expect(steps.length).toBe(4)
    expect(new Set(steps.map((s) => s.path)).size).toBe(4)
    expect(declaration!.path).toMatch(/^core\/ops\//)
    expect(rows.map((r) => r.path).sort()).toEqual([...facetsOf(FUNCTIONS)].sort())
  })

  it('after the first the compiler lists the other three, and nothing else', () => {
    const found = faults(before)
    expect(found.map((f) => f.file)).toEqual(rows.map((r) => r.path).sort())
    for (const f of found) expect(f.text).toContain("'sech' is missing")
  }, 120_000)

  it('after all of them it compiles, and users see its type and its docstring', () => {
    const after = compiled(complete, before)
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
      const checked = (p: { readonly samples: readonly unknown[] }): readonly string[] =>
        p.samples.map((sample) => makeCheck(coreRegistry).checkRule(p, sample)._tag)
      expect(new Set(checked(more))).toEqual(new Set(['Right']))
      // Nobody holds a product that is written out: the checker finds it.
      expect(checked(families.reduce.writtenOut).filter((tag) => tag !== 'Right').length).toBeGreaterThan(0)
      for (const sample of prim.samples) expect(makeCheck(coreRegistry).checkRule(prim, sample)).toMatchObject({ _tag: 'Right' })
    } finally {
      rmSync(file)
    }
  }, 60_000)
})

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

describe('one more primitive of other families', () => {
  const added = Object.fromEntries(
    Object.values(probes).map(({ path, code }) => [
      path,
      declared(path, `import { primitive as declareProbe } from '${'../'.repeat(path.split('/').length - 2)}graph/primitive.js'\n${code}`),
    ]),
  )
  const program = compiled(added)

  it('is exactly one error in the file of each missing facet, which names it', () => {
    const wanted = probed.flatMap((family) => facetsOf(family).map((file) => ({ file, name: probes[family].name })))
    const found = faults(program)
    expect(found.map((f) => f.file)).toEqual(wanted.map((w) => w.file).sort())
    for (const { file, name } of wanted) expect(found.find((f) => f.file === file)?.text).toContain(`'${name}' is missing`)
  }, 120_000)

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
    expect(faults(compiled({ ...added, ...rows }, program), Object.keys(rows))).toEqual([])
  }, 120_000)
})
