// One more primitive is one error in each missing facet's file, and none anywhere else: the compiler's errors are the to-do list.
// The source is compiled as it would be with the changes; nothing on disk is touched.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { cpuFamilies } from '../../src/backends/cpu/facets.js'
import { buildIr } from '../../src/backends/plan/ir.js'
import { aval } from '../../src/core/aval.js'
import { applyAny, input } from '../../src/core/expr.js'
import { families } from '../../src/core/ops/families.js'
import type { AnyPrimitive } from '../../src/core/primitive.js'
import { makeProgram } from '../../src/core/program.js'
import { ruleFamilies } from '../../src/rules/index.js'

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

/** A family's declarations with one more primitive. */
const declared = (family: string, name: string): string => {
  const text = read(`core/ops/${family}.ts`)
  const table = `export const ${family} = {`
  if (!text.includes(table)) failing(`no table in core/ops/${family}.ts`)
  const declaration =
    family === 'elementwise'
      ? `import { unary as declareProbe } from '../elementwise.js'\nconst ${name} = declareProbe({ name: '${name}', scalar: (x) => x!, source: 'test' }).primitive\n`
      : `import { primitive as declareProbe } from '../primitive.js'\nconst ${name} = declareProbe({ name: '${name}', family: '${family}', args: ['float'], shapeRule: ([x]) => x!, meaning: () => undefined, source: 'test' })\n`
  return `${declaration}${text.replace(table, `${table} ${name},`)}`
}
/** A facet's table with a row for it. */
const withRow = (path: string, family: string, row: string): string => {
  const text = read(path)
  const table = new RegExp(`export const \\w+: [^=]*typeof (?:op\\.)?${family}\\b[^=]*= \\{`)
  if (!table.test(text)) failing(`no table of ${family} in ${path}`)
  return text.replace(table, (start) => `${start} ${row},`)
}

/** Every file that has a facet of a family: its rules, and its kernels in each backend that has tables by family. */
const facetsOf = (family: string): readonly string[] =>
  [`rules/${family}.ts`, ...readdirSync(join(src, 'backends')).map((b) => `backends/${b}/${family}.ts`)].filter((f) =>
    existsSync(join(src, f)),
  )

const probes = { elementwise: 'probeScalar', indexing: 'probeIndex', nn: 'probeLayer' } as const
const probed = Object.keys(probes) as (keyof typeof probes)[]

describe('one more primitive', () => {
  const added = Object.fromEntries(probed.map((f) => [`core/ops/${f}.ts`, declared(f, probes[f])]))
  const program = compiled(added)

  it('of three families is exactly one error in the file of each missing facet, which names it', () => {
    const wanted = probed.flatMap((family) => facetsOf(family).map((file) => ({ file, name: probes[family] })))
    expect(wanted.map((w) => w.file)).toEqual(
      expect.arrayContaining(probed.flatMap((family) => [`rules/${family}.ts`, `backends/cpu/${family}.ts`])),
    )
    const found = faults(program)
    expect(found.map((f) => f.file)).toEqual(wanted.map((w) => w.file).sort())
    for (const { file, name } of wanted) expect(found.find((f) => f.file === file)?.text).toContain(`'${name}' is missing`)
  }, 120_000)

  it('compiles when its rows are there', () => {
    const cpu: Readonly<Record<keyof typeof probes, string>> = {
      elementwise: `${probes.elementwise}: viaMeaning`,
      indexing: `${probes.indexing}: byMeaning('a test')`,
      nn: `${probes.nn}: byMeaning('a test')`,
    }
    const rows = Object.fromEntries(
      probed.flatMap((family) =>
        facetsOf(family).map((file) => {
          const name = probes[family]
          const row = file.startsWith('rules/')
            ? `${name}: { primitive: undefined as never }`
            : file.startsWith('backends/cpu/')
              ? cpu[family]
              : `${name}: undefined as never`
          return [file, withRow(file, family, row)]
        }),
      ),
    )
    // Rows of a typed table change no type, so only their own files are checked again.
    expect(faults(compiled({ ...added, ...rows }, program), Object.keys(rows))).toEqual([])
  }, 120_000)
})

describe('the tables', () => {
  const all = Object.entries(families).flatMap(([family, table]) => Object.values(table).map((p) => [family, p as AnyPrimitive] as const))

  it('have a row for every primitive and no other', () => {
    for (const [family, table] of Object.entries(families)) {
      const names = Object.keys(table).sort()
      expect(Object.keys(ruleFamilies[family as keyof typeof ruleFamilies]).sort()).toEqual(names)
      expect(Object.keys(cpuFamilies[family as keyof typeof cpuFamilies]).sort()).toEqual(names)
    }
  })

  it('say what happens: the planner leaves whole exactly what has a kernel or runs by its meaning', () => {
    for (const [family, p] of all) {
      const facet = (
        cpuFamilies as Readonly<Record<string, Readonly<Record<string, { readonly kind: string; readonly otherwise?: string }>>>>
      )[family]![p.name]!
      const leaves = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
      const left = p.samples.some((sample) => {
        const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
        const outputs = applyAny(p, inputs, sample.params)
        const ir = buildIr(
          makeProgram({ name: p.name, inputs, inputTree: leaves(inputs.length), outputs, outputTree: leaves(outputs.length) }),
        )
        return ir.values.some((v) => v.kind === 'opaque')
      })
      if (facet.otherwise === undefined) expect(left, p.name).toBe(facet.kind === 'whole' || facet.kind === 'byMeaning')
    }
  })
})
