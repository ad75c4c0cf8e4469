// The rows of bench/operations.ts: what codual and PyTorch compute of the same inputs.
import * as cd from '../src/index.js'

type E = cd.AnyExpr
type Input = readonly [shape: readonly number[], kind: string, dtype: 'f32' | 'f64' | 'i32' | 'bool']

const M = 1_000_000
/** What operations are computed of, by name, in both systems. */
export const inputs: Readonly<Record<string, Input>> = {
  x: [[M], 'wave', 'f32'],
  y: [[M], 'positive', 'f32'],
  u: [[M], 'unit', 'f32'],
  xd: [[M], 'wave', 'f64'],
  yd: [[M], 'positive', 'f64'],
  on: [[M], 'bool', 'bool'],
  m: [[1000, 1000], 'wave', 'f32'],
  n: [[1000, 1000], 'positive', 'f32'],
  md: [[1000, 1000], 'wave', 'f64'],
  row: [[1000], 'positive', 'f32'],
  column: [[1000, 1], 'positive', 'f32'],
  q4: [[250_000, 4], 'wave', 'f32'],
  q10: [[100_000, 10], 'wave', 'f32'],
  c3: [[100, 100, 100], 'wave', 'f32'],
  big: [[2048, 2048], 'wave', 'f32'],
  at: [[100_000], 'index', 'i32'],
  places: [[1000, 1000], 'index', 'i32'],
  labels: [[1000], 'index', 'i32'],
  A: [[512, 512], 'small', 'f32'],
  B: [[512, 512], 'wave', 'f32'],
  Ad: [[512, 512], 'small', 'f64'],
  Bd: [[512, 512], 'wave', 'f64'],
  v: [[512], 'wave', 'f32'],
  stack: [[64, 128, 128], 'small', 'f32'],
  stack2: [[64, 128, 128], 'wave', 'f32'],
  tiny: [[10_000, 4, 4], 'wave', 'f32'],
  x2: [[128, 784], 'wave', 'f32'],
  W2: [[784, 32], 'small', 'f32'],
  b2: [[32], 'wave', 'f32'],
  x3: [[32, 128, 256], 'wave', 'f32'],
  W3: [[256, 256], 'small', 'f32'],
  b3: [[256], 'wave', 'f32'],
  heads: [[4, 8, 256, 64], 'unit', 'f32'],
  image: [[16, 64, 32, 32], 'wave', 'f32'],
  k3: [[64, 64, 3, 3], 'small', 'f32'],
  k1: [[128, 64, 1, 1], 'small', 'f32'],
  deep: [[64, 1, 3, 3], 'small', 'f32'],
  photo: [[16, 3, 64, 64], 'wave', 'f32'],
  k7: [[64, 3, 7, 7], 'small', 'f32'],
  sound: [[16, 64, 1024], 'wave', 'f32'],
  k5: [[64, 64, 5], 'small', 'f32'],
  table: [[1000, 128], 'wave', 'f32'],
  g: [[64], 'positive', 'f32'],
}

export interface Row {
  readonly name: string
  readonly f: (g: Readonly<Record<string, E>>) => E
  /** The same in PyTorch. */
  readonly torch: string
  readonly of: readonly string[]
  /** Inputs that its sum is differentiated by; none: forward alone. */
  readonly wrt: readonly string[]
}
const out: Row[] = []
const add = (name: string, torch: string, of: string, f: (g: Readonly<Record<string, never>>) => unknown, wrt = of): void => {
  const words = (text: string): readonly string[] => text.split(' ').filter((w) => w !== '')
  out.push({ name, torch, of: words(of), f: f as unknown as Row['f'], wrt: words(wrt) })
}

// ---- elementwise --------------------------------------------------------------------------------------------------------
type Unary = (x: never) => unknown
const unary: Readonly<Record<string, readonly [Unary, string, string?]>> = {
  neg: [cd.neg, '-x'],
  abs: [cd.abs, 'torch.abs(x)'],
  square: [cd.square, 'x*x'],
  sqrt: [cd.sqrt, 'torch.sqrt(y)', 'y'],
  rsqrt: [cd.rsqrt, 'torch.rsqrt(y)', 'y'],
  reciprocal: [cd.reciprocal, 'torch.reciprocal(y)', 'y'],
  exp: [cd.exp, 'torch.exp(x)'],
  expm1: [cd.expm1, 'torch.expm1(x)'],
  log: [cd.log, 'torch.log(y)', 'y'],
  log1p: [cd.log1p, 'torch.log1p(y)', 'y'],
  log2: [cd.log2, 'torch.log2(y)', 'y'],
  sin: [cd.sin, 'torch.sin(x)'],
  cos: [cd.cos, 'torch.cos(x)'],
  tan: [cd.tan, 'torch.tan(x)'],
  asin: [cd.asin, 'torch.asin(u)', 'u'],
  acos: [cd.acos, 'torch.acos(u)', 'u'],
  atan: [cd.atan, 'torch.atan(x)'],
  sinh: [cd.sinh, 'torch.sinh(x)'],
  cosh: [cd.cosh, 'torch.cosh(x)'],
  tanh: [cd.tanh, 'torch.tanh(x)'],
  asinh: [cd.asinh, 'torch.asinh(x)'],
  atanh: [cd.atanh, 'torch.atanh(u)', 'u'],
  sigmoid: [cd.sigmoid, 'torch.sigmoid(x)'],
  relu: [cd.relu, 'torch.relu(x)'],
  leakyRelu: [cd.leakyRelu, 'F.leaky_relu(x)'],
  elu: [cd.elu, 'F.elu(x)'],
  selu: [cd.selu, 'F.selu(x)'],
  gelu: [cd.gelu, 'F.gelu(x)'],
  silu: [cd.silu, 'F.silu(x)'],
  mish: [cd.mish, 'F.mish(x)'],
  softplus: [cd.softplus, 'F.softplus(x)'],
  logSigmoid: [cd.logSigmoid, 'F.logsigmoid(x)'],
  hardSwish: [cd.hardSwish, 'F.hardswish(x)'],
  erf: [cd.erf, 'torch.erf(x)'],
  erfc: [cd.erfc, 'torch.erfc(x)'],
  erfinv: [cd.erfinv, 'torch.erfinv(u)', 'u'],
  lgamma: [cd.lgamma, 'torch.lgamma(y)', 'y'],
  digamma: [cd.digamma, 'torch.digamma(y)', 'y'],
  floor: [cd.floor, 'torch.floor(x)'],
  round: [cd.round, 'torch.round(x)'],
  sign: [cd.sign, 'torch.sign(x)'],
  'pow(x, 2.5)': [(x) => cd.pow(x, 2.5 as never), 'y**2.5', 'y'],
  'pow(x, 3)': [(x) => cd.pow(x, 3 as never), 'x**3'],
  'pow(x, -2)': [(x) => cd.pow(x, -2 as never), 'x**-2'],
  'clamp(x, -1, 1)': [(x) => cd.clamp(x, -1 as never, 1 as never), 'torch.clamp(x, -1, 1)'],
  i0: [cd.i0, 'torch.special.i0(x)'],
  isfinite: [cd.isfinite, 'torch.isfinite(x)'],
}
const STEPS = new Set(['floor', 'round', 'sign', 'isfinite'])
for (const [name, [f, torch, of = 'x']] of Object.entries(unary)) add(name, torch, of, (g) => f(g[of]!), STEPS.has(name) ? '' : of)
for (const name of ['sin', 'exp', 'tanh', 'log', 'erf']) {
  const [f, torch, of = 'x'] = unary[name]!
  add(`${name} f64`, torch.replace(`(${of})`, `(${of}d)`), `${of}d`, (g) => f(g[`${of}d`]!))
}
const binary: Readonly<Record<string, readonly [(x: never, y: never) => unknown, string]>> = {
  add: [cd.add, 'x+y'],
  sub: [cd.sub, 'x-y'],
  mul: [cd.mul, 'x*y'],
  div: [cd.div, 'x/y'],
  maximum: [cd.maximum, 'torch.maximum(x,y)'],
  minimum: [cd.minimum, 'torch.minimum(x,y)'],
  'pow(y, x)': [(x, y) => cd.pow(y, x), 'y**x'],
  atan2: [cd.atan2, 'torch.atan2(x,y)'],
  hypot: [cd.hypot, 'torch.hypot(x,y)'],
  logaddexp: [cd.logaddexp, 'torch.logaddexp(x,y)'],
}
for (const [name, [f, torch]] of Object.entries(binary)) add(name, torch, 'x y', (g) => f(g.x!, g.y!))
add('mod', 'torch.remainder(x,y)', 'x y', ({ x, y }) => cd.mod(x!, y!), 'x')
add('add f64', 'xd+yd', 'xd yd', ({ xd, yd }) => cd.add(xd!, yd!))
add('gt', 'x>y', 'x y', ({ x, y }) => cd.gt(x!, y!), '')
add('where', 'torch.where(on,x,y)', 'on x y', ({ on, x, y }) => cd.where(on!, x!, y!), 'x y')
add('add a number', 'x+1', 'x', ({ x }) => cd.add(x!, 1))
add('a chain of ten', 'torch.tanh(x*y+1)*torch.exp(-x*x)+torch.sin(y)*0.5-x/(y+1)', 'x y', ({ x, y }) =>
  cd.sub(
    cd.add(cd.mul(cd.tanh(cd.add(cd.mul(x!, y!), 1)), cd.exp(cd.neg(cd.mul(x!, x!)))), cd.mul(cd.sin(y!), 0.5)),
    cd.div(x!, cd.add(y!, 1)),
  ),
)
add('add a row', 'm+row', 'm row', ({ m, row }) => cd.add(m!, row!))
add('mul a column', 'm*column', 'm column', ({ m, column }) => cd.mul(m!, column!))
add('an outer difference', 'row[:,None]-row[None,:]', 'row', ({ row }) => cd.sub(cd.expandDims(row!, 1), cd.expandDims(row!, 0)))
add('i32 to f32', 'places.float()', 'places', ({ places }) => cd.cast(places!, 'f32'), '')
add('f32 to f64', 'x.double()', 'x', ({ x }) => cd.cast(x!, 'f64'))

// ---- reductions -----------------------------------------------------------------------------------------------------------
type Fold = (x: never, o?: never) => unknown
const folds: Readonly<Record<string, readonly [Fold, (x: string, d?: number) => string, boolean?]>> = {
  sum: [cd.sum as Fold, (x, d) => `torch.sum(${x}${d === undefined ? '' : `,${d}`})`],
  mean: [cd.mean as Fold, (x, d) => `torch.mean(${x}${d === undefined ? '' : `,${d}`})`],
  max: [cd.max as Fold, (x, d) => (d === undefined ? `torch.max(${x})` : `torch.amax(${x},${d})`)],
  min: [cd.min as Fold, (x, d) => (d === undefined ? `torch.min(${x})` : `torch.amin(${x},${d})`)],
  prod: [cd.prod as Fold, (x, d) => `torch.prod(${x}*0.5+1${d === undefined ? '' : `,${d}`})`, true],
  variance: [cd.variance as Fold, (x, d) => `torch.var(${x}${d === undefined ? '' : `,${d}`},unbiased=False)`],
  logsumexp: [cd.logsumexp as Fold, (x, d) => `torch.logsumexp(${x},${d ?? 0})`],
}
const where: Readonly<Record<string, readonly [of: string, axis: number | undefined]>> = {
  all: ['x', undefined],
  'rows of 1000': ['m', 1],
  'columns of 1000': ['m', 0],
  'axes of 4': ['q4', 1],
  'axes of 10': ['q10', 1],
  'a middle axis': ['c3', 1],
}
for (const [name, [f, torch, halved]] of Object.entries(folds))
  for (const [place, [of, axis]] of Object.entries(where)) {
    const at = halved ? (x: never): never => cd.add(cd.mul(x, 0.5 as never), 1 as never) as never : (x: never): never => x
    add(`${name}, ${place}`, torch(of, axis), of, (g) => f(at(g[of]!), (axis === undefined ? {} : { axis }) as never))
  }
add('sum f64', 'torch.sum(xd)', 'xd', ({ xd }) => cd.sum(xd!))
add('norm', 'torch.linalg.norm(x)', 'x', ({ x }) => cd.norm(x!))
add('any', 'torch.any(on)', 'on', ({ on }) => cd.any(on!), '')
add('argmax', 'torch.argmax(x)', 'x', ({ x }) => cd.argmax(x!), '')
add('argmax of rows', 'torch.argmax(m,1)', 'm', ({ m }) => cd.argmax(m!, { axis: 1 } as never), '')
add('argmax of axes of 10', 'torch.argmax(q10,1)', 'q10', ({ q10 }) => cd.argmax(q10!, { axis: 1 } as never), '')
add('softmax of rows', 'torch.softmax(m,1)', 'm', ({ m }) => cd.softmax(m!))
add('softmax of axes of 10', 'torch.softmax(q10,1)', 'q10', ({ q10 }) => cd.softmax(q10!))
add('softmax of columns', 'torch.softmax(m,0)', 'm', ({ m }) => cd.softmax(m!, { axis: 0 }))
add('logSoftmax', 'torch.log_softmax(m,1)', 'm', ({ m }) => cd.logSoftmax(m!))
add('cross entropy', 'F.cross_entropy(m,labels)', 'm labels', ({ m, labels }) => cd.crossEntropy(m!, labels! as never), 'm')
add('layerNorm', 'F.layer_norm(m,(1000,))', 'm', ({ m }) => cd.layerNorm(m!, { axis: -1 } as never))
add('cumsum', 'torch.cumsum(x,0)', 'x', ({ x }) => cd.cumsum(x!))
add('cumsum of rows', 'torch.cumsum(m,1)', 'm', ({ m }) => cd.cumsum(m!, { axis: 1 } as never))
add('cumsum of columns', 'torch.cumsum(m,0)', 'm', ({ m }) => cd.cumsum(m!, { axis: 0 } as never))
add('cumprod', 'torch.cumprod(y*0.5,0)', 'y', ({ y }) => cd.cumprod(cd.mul(y!, 0.5)), '')
add('cummax', 'torch.cummax(x,0)', 'x', ({ x }) => cd.cummax(x!))
add('sort', 'torch.sort(x)', 'x', ({ x }) => cd.sort(x!))
add('sort of rows', 'torch.sort(m,1)', 'm', ({ m }) => cd.sort(m!))
add('argsort', 'torch.argsort(x)', 'x', ({ x }) => cd.argsort(x!), '')
add('topk 10', 'torch.topk(x,10)', 'x', ({ x }) => cd.topk(x!, 10 as never).values)
add('topk 10 of rows', 'torch.topk(m,10)', 'm', ({ m }) => cd.topk(m!, 10 as never).values)
add('median', 'torch.median(x)', 'x', ({ x }) => cd.median(x!), '')
add('histogram', 'torch.histc(x,100,-2,2.2)', 'x', ({ x }) => cd.histogram(x!, { bins: 100, range: [-2, 2.2] } as never).counts, '')
add('bincount', 'torch.bincount(at,minlength=1000)', 'at', ({ at }) => cd.bincount(at!, { size: 1000 } as never), '')

// ---- layout ---------------------------------------------------------------------------------------------------------------
add('transpose 2048', 'big.T.contiguous()', 'big', ({ big }) => cd.transpose(big!))
add('transpose [100,100,100] (2,1,0)', 'c3.permute(2,1,0).contiguous()', 'c3', ({ c3 }) => cd.transpose(c3!, [2, 1, 0]))
add('transpose [100,100,100] (1,0,2)', 'c3.permute(1,0,2).contiguous()', 'c3', ({ c3 }) => cd.transpose(c3!, [1, 0, 2]))
add('add of a transpose', 'big+big.T', 'big', ({ big }) => cd.add(big!, cd.transpose(big!)))
add('concat', 'torch.cat([m,n],0)', 'm n', ({ m, n }) => cd.concat([m!, n!] as never, { axis: 0 }))
add('concat of columns', 'torch.cat([m,n],1)', 'm n', ({ m, n }) => cd.concat([m!, n!] as never, { axis: 1 }))
add('stack', 'torch.stack([x,y],1)', 'x y', ({ x, y }) => cd.stack([x!, y!] as never, { axis: 1 }))
add('slice of rows', 'm[100:900].clone()', 'm', ({ m }) => cd.slice(m!, [100, 0], [900, 1000]))
add('slice of columns', 'm[:,100:900].contiguous()', 'm', ({ m }) => cd.slice(m!, [0, 100], [1000, 900]))
add('slice with steps', 'm[::2,::2].contiguous()', 'm', ({ m }) => cd.slice(m!, [0, 0], [1000, 1000], [2, 2] as never))
add('flip', 'torch.flip(m,[1])', 'm', ({ m }) => cd.flip(m!, { axis: 1 }))
add('roll', 'torch.roll(x,1234)', 'x', ({ x }) => cd.roll(x!, 1234 as never))
add('pad', 'F.pad(m,(10,10,10,10))', 'm', ({ m }) =>
  cd.pad(m!, [
    [10, 10],
    [10, 10],
  ]),
)
add('tile', 'm.tile(2,1)', 'm', ({ m }) => cd.tile(m!, [2, 1]))
add('repeat', 'x.repeat_interleave(2)', 'x', ({ x }) => cd.repeat(x!, 2 as never))
add('broadcast of a row', 'row.expand(1000,1000).contiguous()', 'row', ({ row }) => cd.broadcastTo(row!, [1000, 1000]))
add('triu', 'torch.triu(m)', 'm', ({ m }) => cd.triu(m!))
add('diagonal', 'torch.diagonal(m).clone()', 'm', ({ m }) => cd.diagonal(m!))
add('arange', 'torch.arange(1000000,dtype=torch.float32)+x', 'x', ({ x }) => cd.add(cd.arange(M) as never, x!))

// ---- indexing -------------------------------------------------------------------------------------------------------------
add('embedding of 100,000', 'F.embedding(at,table)', 'at table', ({ at, table }) => cd.embedding(table!, at! as never), 'table')
add('gather of elements', 'x[at]', 'x at', ({ x, at }) => cd.take(x!, at! as never), 'x')
add('rows of a matrix', 'm[labels]', 'm labels', ({ m, labels }) => cd.take(m!, labels! as never, { axis: 0 } as never), 'm')
add(
  'takeAlongAxis',
  'torch.gather(m,1,places)',
  'm places',
  ({ m, places }) => cd.takeAlongAxis(m!, places! as never, { axis: 1 } as never),
  'm',
)
add(
  'scatterAdd',
  'torch.zeros(1000).index_add(0,at,x[:100000])',
  'x at',
  ({ x, at }) => cd.segmentSum(cd.slice(x!, [0], [100_000]), at! as never, 1000 as never),
  'x',
)
add(
  'segmentSum of rows',
  'torch.zeros(1000,1000).index_add(0,labels,m)',
  'm labels',
  ({ m, labels }) => cd.segmentSum(m!, labels! as never, 1000 as never),
  'm',
)
add('oneHot', 'F.one_hot(labels,1000).float()', 'labels', ({ labels }) => cd.oneHot(labels! as never, 1000 as never), '')
add(
  'searchsorted',
  'torch.searchsorted(torch.cumsum(row,0),y*200)',
  'row y',
  ({ row, y }) => cd.searchsorted(cd.cumsum(row!), cd.mul(y!, 200)),
  '',
)

// ---- products -------------------------------------------------------------------------------------------------------------
add('matmul 512', 'A@B', 'A B', ({ A, B }) => cd.matmul(A!, B!))
add('matmul 512, transposed', 'A.T@B.T', 'A B', ({ A, B }) => cd.matmul(cd.transpose(A!), cd.transpose(B!)))
add('matmul 512 f64', 'Ad@Bd', 'Ad Bd', ({ Ad, Bd }) => cd.matmul(Ad!, Bd!))
add('matrix times vector', 'A@v', 'A v', ({ A, v }) => cd.matmul(A!, v!))
add('dot', 'torch.dot(x,y)', 'x y', ({ x, y }) => cd.dot(x!, y!))
add('outer', 'torch.outer(row,row)', 'row', ({ row }) => cd.outer(row!, row!))
add('64 products of 128', 'stack@stack2', 'stack stack2', ({ stack, stack2 }) => cd.matmul(stack!, stack2!))
add('10,000 products of 4', 'tiny@tiny', 'tiny', ({ tiny }) => cd.matmul(tiny!, tiny!))
add('linear', 'x2@W2+b2', 'x2 W2 b2', ({ x2, W2, b2 }) => cd.add(cd.matmul(x2!, W2!), b2!), 'W2 b2')
add('linear and tanh', 'torch.tanh(x2@W2+b2)', 'x2 W2 b2', ({ x2, W2, b2 }) => cd.tanh(cd.add(cd.matmul(x2!, W2!), b2!)), 'W2 b2')
add('linear of three axes', 'x3@W3+b3', 'x3 W3 b3', ({ x3, W3, b3 }) => cd.add(cd.matmul(x3!, W3!), b3!), 'x3 W3 b3')
add('linear and gelu', 'F.gelu(x3@W3+b3)', 'x3 W3 b3', ({ x3, W3, b3 }) => cd.gelu(cd.add(cd.matmul(x3!, W3!), b3!)), 'x3 W3 b3')
add('einsum bij,bkj->ik', "torch.einsum('bij,bkj->ik',stack,stack2)", 'stack stack2', ({ stack, stack2 }) =>
  cd.einsum('bij,bkj->ik' as never, stack! as never, stack2! as never),
)
add('pairwise distances', '((x2[:,None,:]-x2[None,:,:])**2).sum(-1)', 'x2', ({ x2 }) =>
  cd.sum(cd.square(cd.sub(cd.expandDims(x2!, 1), cd.expandDims(x2!, 0))), { axis: -1 } as never),
)
add('attention', 'torch.softmax(heads@heads.transpose(-1,-2)*0.125,-1)@heads', 'heads', ({ heads }) =>
  cd.matmul(cd.softmax(cd.mul(cd.matmul(heads!, cd.swapaxes(heads!, -1, -2) as never), 0.125)), heads!),
)
add(
  'causal attention',
  'torch.softmax((heads@heads.transpose(-1,-2)*0.125).masked_fill(torch.ones(256,256,dtype=torch.bool).triu(1),float("-inf")),-1)@heads',
  'heads',
  ({ heads }) => cd.scaledDotProductAttention(heads!, heads!, heads!, { causal: true } as never),
)

// ---- networks -------------------------------------------------------------------------------------------------------------
add('conv 3x3, 64 channels', 'F.conv2d(image,k3,padding=1)', 'image k3', ({ image, k3 }) => cd.conv(image!, k3!, { padding: 1 } as never))
add('conv 3x3, stride 2', 'F.conv2d(image,k3,padding=1,stride=2)', 'image k3', ({ image, k3 }) =>
  cd.conv(image!, k3!, { padding: 1, stride: 2 } as never),
)
add('conv 3x3, dilated', 'F.conv2d(image,k3,padding=2,dilation=2)', 'image k3', ({ image, k3 }) =>
  cd.conv(image!, k3!, { padding: 2, dilation: 2 } as never),
)
add('conv 1x1', 'F.conv2d(image,k1)', 'image k1', ({ image, k1 }) => cd.conv(image!, k1!))
add('conv by channels', 'F.conv2d(image,deep,padding=1,groups=64)', 'image deep', ({ image, deep }) =>
  cd.conv(image!, deep!, { padding: 1, groups: 64 } as never),
)
add('conv 7x7, stride 2', 'F.conv2d(photo,k7,padding=3,stride=2)', 'photo k7', ({ photo, k7 }) =>
  cd.conv(photo!, k7!, { padding: 3, stride: 2 } as never),
)
add('conv of one axis', 'F.conv1d(sound,k5,padding=2)', 'sound k5', ({ sound, k5 }) => cd.conv(sound!, k5!, { padding: 2 } as never))
add('maxPool', 'F.max_pool2d(image,2)', 'image', ({ image }) => cd.maxPool(image!, { window: [2, 2], stride: [2, 2] } as never))
add('avgPool', 'F.avg_pool2d(image,2)', 'image', ({ image }) => cd.avgPool(image!, { window: [2, 2], stride: [2, 2] } as never))
add('batchNorm', 'F.batch_norm(image,None,None,g,g,training=True)', 'image g', ({ image, g }) =>
  cd.batchNorm(image!, { scale: g!, bias: g! } as never),
)
add('groupNorm', 'F.group_norm(image,8)', 'image', ({ image }) => cd.groupNorm(image!, 8 as never))
add('mse', 'F.mse_loss(x,y)', 'x y', ({ x, y }) => cd.mseLoss(x!, y!), 'x')
add(
  'binary cross entropy',
  'F.binary_cross_entropy_with_logits(x,(y-1)/2)',
  'x y',
  ({ x, y }) => cd.bceWithLogits(x!, cd.div(cd.sub(y!, 1), 2) as never),
  'x',
)

export const rows: readonly Row[] = out
