/** The program of the matrix: the same in every runtime, of the installed package. It tells which checks failed, what numbers came out, and how they were computed. */
import * as cd from 'codual'
import { checkGrad, checkRule } from 'codual/check'
import { dense, sequential } from 'codual/nn'
import { adam } from 'codual/optim'
import { key, normal, uniform } from 'codual/random'
import { odeint, root } from 'codual/solve'
import { decodeSafetensors, encodeSafetensors, fit as learn } from 'codual/train'

const { add, compile, cpu, evaluate, f32, fn, grad, matmul, mean, mul, sin, square, sub, sum, tanh, tensor, valueAndGrad, vmap } = cd

const near = (got, want, tolerance = 1e-12) => {
  const [a, b] = [got, want].map((x) => [...(x?.data ?? (ArrayBuffer.isView(x) ? x : [x].flat(Infinity)))])
  if (a.length !== b.length || !a.every((v, i) => Math.abs(v - b[i]) <= tolerance * Math.max(1, Math.abs(b[i]))))
    throw new Error(`got [${a}], not [${b}]`)
}
const right = (either) => {
  if (either._tag !== 'Right') throw new Error(JSON.stringify(either.left ?? either))
  return either.right
}
/** Numbers without an engine's own sine in them: sums of a hash. */
const draw = (n, seed = 1) => Float64Array.from({ length: n }, (_, i) => ((((i + seed) * 2654435761) >>> 0) % 1000) / 500 - 1)

/** A dense layer's loss and gradient, the loss held against loops. */
const layer = (backend) => {
  const [w, x] = [draw(64 * 64), draw(8 * 64, 7)]
  const loss = fn({ w: f32(64, 64), x: f32('n', 64) }, ({ w, x }) => mean(square(tanh(matmul(x, w)))))
  const input = { w: tensor(Float32Array.from(w), [64, 64]), x: tensor(Float32Array.from(x), [8, 64]) }
  const { value, grad: g } = compile(valueAndGrad(loss, { wrt: 'w' }), backend)(input)
  let want = 0
  for (let i = 0; i < 8; i++)
    for (let j = 0; j < 64; j++) {
      let s = 0
      for (let k = 0; k < 64; k++) s += x[64 * i + k] * w[64 * k + j]
      want += Math.tanh(s) ** 2 / 512
    }
  near(value.item(), want, 1e-5)
  return [value.item(), ...g.data]
}

/** Each throws where it finds something wrong, and gives the numbers that runtimes are compared by. */
const checks = {
  'a gradient': () => {
    const y = grad((x) => sum(mul(x, x)))([1, 2, 3])
    near(y, [2, 4, 6])
    return y.data
  },
  'a Hessian': () => {
    const h = cd.hessian((x) => sum(mul(x, mul(x, x))))([1, 2])
    near(h, [6, 0, 0, 12])
    return h.data
  },
  'a layer, compiled, in f32': () => layer(cpu()),
  'the same with cpu({ relaxed: false })': () => layer(cpu({ relaxed: false })),
  'a batch': () => {
    const y = vmap((x) => sum(mul(x, x)))([
      [1, 2],
      [3, 4],
    ])
    near(y, [5, 25])
    return y.data
  },
  'a loop and its derivative': () => {
    const y = grad((x) => cd.fori(10, (_, c) => mul(c, x), x))(1.1)
    near(y, [11 * 1.1 ** 10])
    return y.data
  },
  'linear algebra': () => {
    const a = evaluate(add(matmul(tensor(draw(36), [6, 6]), cd.transpose(tensor(draw(36), [6, 6]))), cd.eye(6)))
    const b = tensor(draw(6, 5))
    near(evaluate(matmul(a, cd.solve(a, b))), b.data, 1e-10)
    return [...evaluate(cd.svd(a).s).data, ...evaluate(cd.cholesky(a)).data]
  },
  'a Fourier transform': () => {
    const { re, im } = evaluate(cd.fft(tensor(draw(60))))
    near(
      re.data[0],
      draw(60).reduce((a, b) => a + b, 0),
      1e-10,
    )
    return [...re.data, ...im.data]
  },
  'the bits of random numbers': () => {
    const y = evaluate(uniform(key(1), [1000], { dtype: 'f32' }))
    if (y.data.some((v) => v < 0 || v >= 1)) throw new Error('not in [0, 1)')
    return [...y.data, ...evaluate(normal(key(2), [100])).data]
  },
  'sorts, sin and exp': () => {
    const x = tensor(draw(50, 3))
    const y = evaluate(cd.sort(x))
    if (y.data.some((v, i) => i > 0 && v < y.data[i - 1])) throw new Error('not sorted')
    return [...y.data, ...evaluate(sin(x)).data, ...evaluate(cd.exp(x)).data]
  },
  'erf and lgamma': () => {
    const x = tensor(draw(50, 3))
    near(evaluate(cd.erf(tensor([0.5]))), [0.5204998778130465], 1e-14)
    return [...evaluate(cd.erf(x)).data, ...evaluate(cd.lgamma(x)).data]
  },
  gammainc: () => {
    const y = evaluate(cd.gammainc(2, tensor([0.5, 1, 3])))
    near(y, [0.09020401043104986, 0.26424111765711533, 0.8008517265285442], 1e-12)
    return evaluate(cd.gammainc(2, cd.abs(tensor(draw(50, 3))))).data
  },
  'a root and a differential equation': () => {
    const { x } = evaluate(root((x, a) => sub(mul(x, x), a), tensor(1), tensor(2)))
    near(x, [Math.SQRT2], 1e-7)
    const y = evaluate(odeint((_t, y) => mul(-1, y), tensor(1), [0, 0.5, 1]).ys)
    near(y, [1, Math.exp(-0.5), Math.exp(-1)], 1e-5)
    return x.data
  },
  training: async () => {
    const x = tensor(Float32Array.from(draw(200)), [100, 2])
    const y = tensor(Int32Array.from({ length: 100 }, (_, i) => Number(x.data[2 * i] > x.data[2 * i + 1])))
    const model = sequential(dense(2, 8), tanh, dense(8, 2))
    const fitted = right(
      await learn(
        model,
        { x, y },
        { loss: 'crossEntropy', optimizer: adam({ learningRate: 0.02 }), batchSize: 20, epochs: 30, key: key(1) },
      )(),
    )
    const { loss } = fitted.history
    if (!(loss.at(-1) < 0.3 * loss[0])) throw new Error(`the loss went from ${loss[0]} to ${loss.at(-1)}`)
    return loss
  },
  'saving and loading': () => {
    const saved = { w: tensor(Float32Array.from(draw(6)), [2, 3]), b: tensor([1, 2]) }
    const { tensors } = right(decodeSafetensors(encodeSafetensors(saved), { like: saved }))
    near(tensors.w, saved.w.data, 0)
    return tensors.w.data
  },
  'a program as JSON': () => {
    const program = right(cd.fromJSON(JSON.parse(JSON.stringify(cd.toJSON(cd.toProgram((x) => sum(sin(x)))([1, 2]))))))
    near(cd.fromProgram(program)([1, 2]), [Math.sin(1) + Math.sin(2)])
    return []
  },
  'the checker': () => {
    right(checkGrad((x) => sum(mul(x, sin(x))))([0.3, -0.7, 2]))
    const cube = cd.unary({ name: 'cube', scalar: (x) => x ** 3, source: 'definition' })
    right(checkRule(cd.scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))])))
    if (checkRule(cd.scalarRule(cube, ({ x: [x] }) => [mul(2, mul(x, x))]))._tag !== 'Left') throw new Error('a wrong rule is right')
    return []
  },
  'results into arrays that are there': () => {
    const out = tensor([0, 0, 0])
    compile((x) => mul(x, 2)).into(out)(tensor([1, 2, 3]))
    near(out, [2, 4, 6])
    const large = compile((x) => sum(mul(x, x)))(tensor(new Float64Array(300_000).fill(0.5)))
    near(large, [75_000])
    return out.data
  },
  'an error with what to do': () => {
    try {
      add([1, 2], [1, 2, 3])
    } catch (e) {
      if (cd.isAdException(e) && e.error._tag === 'ShapeMismatch') return []
      throw e
    }
    throw new Error('shapes that differ were added')
  },
}

/** Where an error of this file says that it comes from. */
const lineOfError = () => {
  try {
    add([1, 2], [1, 2, 3])
  } catch (e) {
    return /\bat [^\s]*?([\w.-]+):\d+/.exec(e.message.split('\n').slice(1).join('\n'))?.[1] ?? 'none'
  }
}

/** WebGPU: what stands in its way, or that it ran. */
const gpu = async () => {
  try {
    const y = await compile(
      fn({ x: f32(3) }, ({ x }) => mul(x, 2)),
      cd.webgpu(),
    )({ x: new Float32Array([1, 2, 3]) })
    near(y, [2, 4, 6])
    return 'runs'
  } catch (e) {
    return cd.isAdException(e) ? (e.error.reason ?? e.error.what ?? e.error._tag) : String(e?.message ?? e)
  }
}

const bytesOf = (numbers) => new Uint8Array(Float64Array.from(numbers).buffer)
/** FNV-1a of the numbers' bits: equal ones have equal texts. */
const digest = (numbers) =>
  bytesOf(numbers)
    .reduce((h, b) => Math.imul(h ^ b, 16777619) >>> 0, 2166136261)
    .toString(16)

export const run = async () => {
  const notices = []
  const warn = console.warn
  console.warn = (...said) => notices.push(said.join(' '))
  const failed = {}
  const numbers = {}
  for (const [name, check] of Object.entries(checks))
    try {
      numbers[name] = digest(await check())
    } catch (e) {
      failed[name] = String(e?.stack ?? e).slice(0, 600)
    }
  const explained = compile((x) => sum(mul(x, x)), cpu()).explain([1, 2, 3])
  const kernels = explained.fallback ?? 'WebAssembly'
  const result = {
    checks: Object.keys(checks).length,
    failed,
    numbers,
    kernels,
    relaxed: relaxed(),
    line: lineOfError(),
    gpu: await gpu(),
    notices,
  }
  console.warn = warn
  return result
}
const relaxed = () => {
  try {
    cpu({ relaxed: true })
    return true
  } catch {
    return false
  }
}
