/** What a newcomer most likely meant: calls as other libraries have them, and what they are here. */

/** Options by their names elsewhere (NumPy, JAX, PyTorch, Keras). */
const aliases: Readonly<Record<string, readonly string[]>> = {
  axis: ['dim', 'dims', 'axes', 'axis_name', 'dimension'],
  keepdims: ['keepdim', 'keep_dims'],
  ddof: ['correction', 'unbiased', 'bessel'],
  ord: ['p', 'order'],
  descending: ['reverse', 'largest', 'desc', 'ascending'],
  stride: ['strides'],
  padding: ['pad', 'pads', 'paddingMode'],
  dilation: ['dilations', 'rhs_dilation'],
  groups: ['feature_group_count', 'feature_groups'],
  window: ['kernel', 'kernelSize', 'kernel_size', 'poolSize', 'pool_size', 'size', 'window_shape'],
  countIncludePad: ['count_include_pad'],
  eps: ['epsilon', 'variance_epsilon'],
  scale: ['gamma', 'weight'],
  bias: ['beta', 'offset'],
  mean: ['runningMean', 'movingMean'],
  variance: ['runningVar', 'var', 'movingVariance'],
  slope: ['negativeSlope', 'negative_slope', 'alpha'],
  wrt: ['argnum', 'argnums', 'inputs', 'params'],
  aux: ['has_aux', 'hasAux'],
  mode: ['method'],
  method: ['mode', 'interpolation'],
  mask: ['attnMask', 'attentionMask', 'bias'],
  causal: ['isCausal', 'useCausalMask'],
  learningRate: ['lr', 'rate', 'stepSize'],
  b1: ['beta1', 'betas'],
  b2: ['beta2'],
  decay: ['alpha', 'rho'],
  initialAccumulator: ['initialAccumulatorValue'],
  weightDecay: ['wd', 'decay', 'l2'],
  min: ['minval', 'low', 'from', 'a'],
  max: ['maxval', 'high', 'to', 'b'],
  p: ['probs', 'probabilities', 'weights'],
  shape: ['size', 'sampleShape', 'numSamples'],
  size: [
    'nFft',
    'nperseg',
    'frameLength',
    'fftLength',
    'winLength',
    'outputSize',
    'minlength',
    'length',
    'most',
    'maxOutputSize',
    'maxOutputBoxesPerClass',
    'outputShape',
  ],
  hop: ['hopLength', 'frameStep', 'hopSize'],
  weight: ['weights', 'classWeight'],
  ignoreIndex: ['ignore', 'paddingIdx'],
  side: ['right'],
  value: ['constantValues', 'fillValue'],
  rcond: ['rtol', 'tol', 'cond'],
  complete: ['mode', 'some'],
  lower: ['upper', 'uplo'],
  upper: ['lower', 'uplo'],
  transpose: ['trans'],
  unitDiagonal: ['unitriangular'],
  spacing: ['dx', 'coordinates'],
  weights: ['aweights', 'w'],
  decimals: ['digits'],
  where: ['mask'],
  initial: ['init', 'start'],
  coordinates: ['coordinateTransformationMode', 'coordinateMode'],
  rounding: ['nearestMode'],
  cubic: ['cubicCoeffA'],
  extrapolation: ['extrapolationValue'],
  iou: ['iouThreshold', 'threshold'],
  score: ['scoreThreshold'],
  format: ['centerPointBox', 'fmt'],
  batchAxis: ['batchDim'],
  least: ['minTokensToKeep'],
  inAxes: ['in_axes', 'in_dims', 'inDims', 'axes'],
  outAxes: ['out_axes', 'out_dims', 'outDims'],
  frule: ['jvp', 'forward'],
  rrule: ['vjp', 'backward'],
}

/** Options that nothing stands for here, and why, or what does their work. */
const without: Readonly<Record<string, string>> = {
  out: 'nothing is written in place: the result is a new array.',
  dtype: "cast(x, 'f32') gives another dtype.",
  kind: 'sorting is always stable.',
  stable: 'sorting is always stable.',
  copy: 'arrays do not change, so none is copied.',
  order: 'the order is row-major.',
  optimize: 'the cheapest order is taken; einsumPath shows it.',
  compute_uv: 'svdvals gives the singular values alone.',
  computeUv: 'svdvals gives the singular values alone.',
  UPLO: 'the mean of x and its transpose is taken; of a lower triangle, give add(tril(x), transpose(tril(x, -1))).',
  symmetrize_input: 'the mean of x and its transpose is always taken.',
  hermitian: 'leave it out.',
  returns: 'all are fields of the result.',
  return_index: 'indices is a field of the result.',
  return_inverse: 'inverse is a field of the result.',
  return_counts: 'counts is a field of the result.',
  min: 'bounds of values are clamp(x, low, high), of bins { range: [low, high] }.',
  max: 'bounds of values are clamp(x, low, high), of bins { range: [low, high] }.',
}
/** What to write in place of an option that is not here. */
export const needless = (name: string): string | undefined => (Object.hasOwn(without, name) ? without[name] : undefined)

/** Letters that differ, for short words: the edit distance, cut off at 3. */
const distance = (a: string, b: string): number => {
  if (Math.abs(a.length - b.length) > 2) return 3
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
/** The name among `names` that `given` most likely means. */
const nearest = (given: string, names: readonly string[]): string | undefined => {
  const plain = given.toLowerCase().replaceAll('_', '')
  const near = (name: string): boolean => name.toLowerCase() === plain || (plain.length > 3 && distance(plain, name.toLowerCase()) <= 2)
  const known = (name: string): boolean => aliases[name]?.some((alias) => alias.toLowerCase().replaceAll('_', '') === plain) ?? false
  return names.find(known) ?? names.find(near)
}
const ownBias = 'a bias is added: add(conv(x, k), reshape(b, [-1, 1, 1])), with as many 1 as there are positions.'
const ownAxes = 'what is normalised is given by axes, the last unless given: { axis: [-2, -1] }.'
const ownWindow = 'sym: false is periodic: true.'
/** Options elsewhere that are none here, and what takes their place; by function and option. */
const elsewhere: Readonly<Record<string, string>> = {
  'conv.bias': ownBias,
  'convTranspose.bias': ownBias,
  'layerNorm.normalizedShape': ownAxes,
  'rmsNorm.normalizedShape': ownAxes,
  'batchNorm.momentum': 'running averages are kept by you: batchStatistics(x) gives the mean and the variance.',
  'bceWithLogits.weight': "multiply the losses of { reduction: 'none' }.",
  'normal.mean': 'add(mean, mul(std, normal(key, shape))).',
  'normal.std': 'add(mean, mul(std, normal(key, shape))).',
  'exponential.rate': 'div(exponential(key, shape), rate).',
  'gamma.scale': 'mul(scale, gamma(key, a)).',
  'gamma.rate': 'div(gamma(key, a), rate).',
  'sgd.momentum': 'momentum and nesterov are functions of their own.',
  'sgd.nesterov': 'momentum and nesterov are functions of their own.',
  'momentum.nesterov': 'nesterov is a function of its own.',
  'adam.amsgrad': 'amsgrad is a function of its own.',
  'adam.betas': 'write b1 and b2.',
  'adamw.betas': 'write b1 and b2.',
  'lion.betas': 'write b1 and b2.',
  'hann.sym': ownWindow,
  'hamming.sym': ownWindow,
  'blackman.sym': ownWindow,
  'kaiser.sym': ownWindow,
}
/** What was meant by an option that is none. */
export const meantOption = (given: string, names: readonly string[], where: string): string | undefined => {
  const own = `${where}.${given}`
  if (Object.hasOwn(elsewhere, own)) return elsewhere[own]
  const name = nearest(given, names)
  return name === undefined ? needless(given) : `perhaps you meant ${name}.`
}

/** Transforms take a function and give one; their call. */
const called: Readonly<Record<string, string>> = {
  grad: 'grad(f)(x)',
  valueAndGrad: 'valueAndGrad(f)(x)',
  jvp: 'jvp(f)(x, dx)',
  vjp: 'vjp(f)(x, yBar)',
  hvp: 'hvp(f)(x, dx)',
  linearize: 'linearize(f)(x)',
  jet: 'jet(f)(x, [dx, ddx])',
  vmap: 'vmap(f)(x)',
  jacfwd: 'jacfwd(f)(x)',
  jacrev: 'jacrev(f)(x)',
  hessian: 'hessian(f)(x)',
  sparsity: 'sparsity(f)(x)',
  hessianSparsity: 'hessianSparsity(f)(x)',
  sparseJacobian: 'sparseJacobian(f)(x)',
  sparseHessian: 'sparseHessian(f)(x)',
  gaussNewtonProduct: 'gaussNewtonProduct(f, loss)(x, dx)',
  compile: 'compile(f)(x)',
  compileAsync: 'await compileAsync(f, backend)(x)',
}
/** The call of the function that a transform gives. */
export const calledAs = (where: string): string => called[where] ?? `${where}(f)(x)`
/** Where something stands for the function that `where` takes: how it is called. */
export const callOf = (where: string): string | undefined =>
  called[where] === undefined ? undefined : `${where} takes a function and gives one: ${called[where]}.`

/** Functions of a list of arrays. */
const ofLists: readonly string[] = ['concat', 'stack', 'vstack', 'hstack', 'dstack', 'columnStack', 'meshgrid', 'multiDot', 'lexsort']
/** What was meant where an array stands in the place of options, or of a list. */
const secondOf = (where: string): string | undefined =>
  ofLists.includes(where) ? `${where} takes a list: ${where}([a, b]).` : second[where]
const second: Readonly<Record<string, string>> = {
  gather: "gather(x, indices, { axis }) picks slices; PyTorch's gather(x, dim, indices) is takeAlongAxis(x, indices, { axis }).",
  take: "take(x, indices, { axis }) picks slices; PyTorch's gather(x, dim, indices) is takeAlongAxis(x, indices, { axis }).",
  max: 'max is over the axes of one array; the larger of two is maximum(a, b).',
  min: 'min is over the axes of one array; the smaller of two is minimum(a, b).',
  conv: ownBias,
  convTranspose: ownBias,
  scaledDotProductAttention: 'write { mask }.',
  batchNorm: 'write { mean, variance, scale, bias }.',
  layerNorm: 'write { scale, bias }.',
  rmsNorm: 'write { scale }.',
  groupNorm: 'write { scale, bias }.',
  instanceNorm: 'write { scale, bias }.',
  crossEntropy: 'write { weight }.',
  nllLoss: 'write { weight }.',
}
const dtypeNames: readonly string[] = ['f64', 'f32', 'i32', 'bool']
/** The option that other libraries have in this place, where it is another than the first among those below. */
const byPlace: Readonly<Record<string, string>> = { norm: 'ord', diff: 'n', gradient: 'spacing', cov: 'ddof', nanToNum: 'nan' }
/** Options that are given without a name elsewhere, by what is given. */
const placed = {
  number: [
    ...['n', 'decimals', 'rtol', 'rcond', 'offset', 'k', 'bins', 'size', 'axis', 'window', 'stride', 'wrt', 'inAxes', 'delta', 'beta'],
    'learningRate',
  ],
  string: ['reduction', 'mode', 'method', 'side', 'indexing', 'ord', 'norm'],
  boolean: [
    ...['right', 'descending', 'complete', 'fullMatrices', 'rowvar', 'upper', 'lower', 'periodic', 'causal', 'approximate', 'replace'],
    'keepdims',
  ],
  array: ['weights', 'x'],
  list: ['shape', 'axis', 'window'],
} as const
const kindOf = (given: unknown, isArray: boolean): keyof typeof placed | undefined => {
  if (isArray) return 'array'
  if (Array.isArray(given)) return given.length <= 64 && given.every(Number.isInteger) ? 'list' : 'array'
  const type = typeof given
  return type === 'number' || type === 'string' || type === 'boolean' ? type : undefined
}
/** The option that a value in the place of options stands for: that of the place elsewhere, the likeliest, or the only one that there is. */
const standsFor = (given: unknown, kind: keyof typeof placed, names: readonly string[], where: string): string | undefined => {
  if (kind === 'string' && dtypeNames.includes(given as string)) return names.find((n) => n === 'dtype')
  const place = kind === 'array' || kind === 'list' ? undefined : byPlace[where]
  const only = names.length === 1 && kind !== 'array' ? names[0] : undefined
  return place ?? placed[kind].find((n) => names.includes(n)) ?? only
}
/** A value as it is written, where it is short. */
const written = (given: unknown): string =>
  typeof given === 'string'
    ? `'${given.slice(0, 20)}'`
    : Array.isArray(given) && given.length < 5 && given.every(Number.isInteger)
      ? `[${given.join(', ')}]`
      : String(given)
/** What was meant where something that is no options stands in their place. */
export const meantBy = (given: unknown, isArray: boolean, names: readonly string[], where: string): string => {
  const takes = `options: { ${names.join(', ')} }.`
  const kind = kindOf(given, isArray)
  if (kind === undefined) return takes
  if (!isArray && Object.hasOwn(elsewhere, `${where}.normalizedShape`)) return `${ownAxes} ${takes}`
  if (kind === 'string' && names.includes(given as string)) return `write { ${given}: true }. ${takes}`
  const own = kind === 'array' || kind === 'list' ? (secondOf(where) ?? (isArray ? callOf(where) : undefined)) : undefined
  if (own !== undefined) return `${own} ${takes}`
  const name = standsFor(given, kind, names, where)
  if (name === undefined) return takes
  if (kind === 'array') return `write { ${name} }. ${takes}`
  const mapped = kind === 'number' && name === 'axis' ? `; in place of xs.map(${where}), xs.map((x) => ${where}(x))` : ''
  return `write { ${name}: ${written(given)} }${mapped}. ${takes}`
}

/** What was meant where something that is no list of whole numbers stands for one. */
export const meantList = (given: unknown, where: string, what: string): string | undefined => {
  if (where === 'tensor' && what === 'a shape') {
    const dtype = typeof given === 'string' ? given : 'f32'
    if (typeof given === 'string' || (typeof given === 'object' && given !== null && !Array.isArray(given)))
      return `tensor takes data, shape and dtype: tensor(data, '${dtype}'), tensor(data, shape, '${dtype}').`
  }
  if (typeof given !== 'number') return what === 'a shape' ? 'a shape is a list of whole numbers: [2, 3].' : undefined
  return what === 'a shape' ? `sizes come in a list: [${given}], or [${given}, ...].` : `write a list: [${given}].`
}

/** dtypes by their names elsewhere. */
const dtypes: Readonly<Record<string, string>> = {
  float64: 'f64',
  double: 'f64',
  number: 'f64',
  float: 'f32',
  float32: 'f32',
  single: 'f32',
  int: 'i32',
  int32: 'i32',
  uint8: 'bool',
  boolean: 'bool',
}
/** Calls with more numbers than there are here. */
const dtypeCalls: Readonly<Record<string, string>> = {
  arange: 'arange(n, dtype) counts from 0, arange(start, stop, step, dtype) from start.',
  eye: 'eye(n, m, k, dtype) takes numbers of rows, columns and the diagonal.',
}
/** What was meant where something that is no dtype stands for one. */
export const meantDtype = (given: unknown, where: string): string => {
  const list = "give one of 'f64', 'f32', 'i32', 'bool'."
  if (typeof given === 'number') return `${dtypeCalls[where] ?? ''} ${list}`.trim()
  if (typeof given === 'function') return `a dtype is text: 'f32', not the declaration f32(). ${list}`
  const near =
    typeof given === 'string' ? (dtypes[given.toLowerCase()] ?? dtypes[given.toLowerCase().replace(/^(np|jnp|torch)\./, '')]) : undefined
  return near === undefined ? list : `write '${near}'. ${list}`
}

/** What was meant where something that is no list stands for one. */
export const meantItems = (where: string, what: string): string | undefined =>
  secondOf(where) !== undefined && what === 'the first argument'
    ? secondOf(where)
    : what === 'axes'
      ? `write a list: ${where}(x, [1, 0]).`
      : undefined

/** Objects of the language, and what makes arrays or records of them. */
const objects: Readonly<Record<string, string>> = {
  Map: 'Object.fromEntries(map) is a record, which a function takes whole; [...map.values()] is a list.',
  Set: 'write [...set].',
  Date: 'date.getTime() is a number.',
  Promise: 'await it, and pass what it gives.',
  ArrayBuffer: 'say what it holds: new Float32Array(buffer).',
  Number: 'a number without new: x.valueOf().',
}
const meantObject = (given: object): string => {
  if (['shape', 'dtype', 'data'].every((k) => Object.hasOwn(given, k)))
    return 'tensor(x) makes a tensor of it, where structuredClone, postMessage or JSON made it of one.'
  const proto: unknown = Object.getPrototypeOf(given)
  if (proto === Object.prototype || proto === null) return 'pass one of its fields; treeMap((leaf) => ..., tree) works on every leaf.'
  const name = String((proto as { readonly constructor?: { readonly name?: unknown } }).constructor?.name)
  if (ArrayBuffer.isView(given)) return 'use Float64Array, Float32Array, Int32Array, or Uint8Array for bool.'
  if (typeof (given as { readonly then?: unknown }).then === 'function') return objects.Promise!
  return Object.hasOwn(objects, name)
    ? objects[name]!
    : 'pass one of its fields, or a plain record of them: { ...x }, whose fields are numbers, arrays or tensors.'
}
/** What to do with something that is no array, where one is wanted. */
export const meantArray = (given: unknown): string => {
  if (given === undefined)
    return 'an argument is missing, a field is misspelt, or a function returns nothing: pass an expression, a tensor, a number or a nested array of numbers.'
  if (typeof given === 'function') return 'call it, and pass what it gives; grad, vmap and the other transforms take functions.'
  if (typeof given === 'string')
    return `text is no number: ${Number.isFinite(Number.parseFloat(given)) ? `write ${Number.parseFloat(given)}` : 'pass an expression, a tensor, a number or a nested array of numbers'}.`
  if (given === null) return 'null is not an array: leave the argument out where it may be, or pass 0, or a tensor.'
  if (typeof given === 'object') return meantObject(given)
  return 'pass an expression, a tensor, a number or a nested array of numbers.'
}

/** Methods of other libraries whose operation is a function of that name here. */
const METHODS =
  'abs add argmax argmin cast clamp concat div dot exp log matmul max mean min mul neg norm pow prod reshape sqrt square squeeze std sub sum transpose'
/** What other libraries' arrays have beside those, and what to write here. */
const MEMBERS: Readonly<Record<string, string>> = {
  T: 'write transpose(x).',
  backward: 'a gradient is a function of a function: grad((x) => ...)(x).',
  detach: 'write stopGradient(x).',
  flatten: 'write reshape(x, [-1]).',
  numpy: 'write evaluate(x).data.',
  view: 'write reshape(x, [2, 3]).',
}
const LOOPS = 'entries every filter find forEach keys map reduce some values'
/** Members of other libraries' arrays that an expression or a tensor (`noun`) has not: each with what is wrong and what to write. */
export const membersOfOthers = (noun: string): readonly (readonly [name: string, reason: string, fix: string])[] => [
  ...LOOPS.split(' ').map(
    (name) =>
      [
        name,
        `${noun} has no method ${name}: it is not an array.`,
        'use vmap(f)(x) for f at every index of the leading axis, map(f, x) for f at every element, unstack(x) for a list.',
      ] as const,
  ),
  ...METHODS.split(' ').map((name) => [name, `${noun} has no methods.`, `operations are functions: ${name}(x, ...).`] as const),
  ...Object.entries(MEMBERS).map(([name, fix]) => [name, `${noun} has no ${name}.`, fix] as const),
]
