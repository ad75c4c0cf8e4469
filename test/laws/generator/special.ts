/** Builders of the special functions that are not a primitive of arguments that are all differentiated. */
import { type Draw, dtypeOf, ref, shapeOf, type Value } from './draw.js'
import { chosen, composed, NUMBERS, type Row } from './elementwise.js'
import { axisOf, like, within } from './guards.js'
import type { Template } from './program.js'

const POSITIVE = [0.3, 4] as const
const at = (d: Draw, domain: readonly [number, number]): Value => within(d, chosen(d, NUMBERS), domain)
const row = (name: string, build: Row['build'], scalar = true): Row => ({ name, weight: 0.3, build, ...(scalar && { scalar }) })
/** Numbers for the arguments that have no second derivative. */
const shaped = (name: string, shapes: readonly number[][], domain: readonly [number, number]): Row =>
  row(name, (d) => void d.op(name, ...d.of(shapes), ref(at(d, domain))))
const pair = (name: string, first: readonly [number, number], second: readonly [number, number], called = name): Row =>
  row(
    called,
    (d) => {
      const x = at(d, first)
      d.op(name, ref(x), ref(within(d, like(d, shapeOf(x), dtypeOf(x)), second)))
    },
    false,
  )

export const specialRows: readonly Row[] = [
  ...['j0', 'j1', 'i0', 'i1'].map((name) => composed(name, [-3, 3])),
  ...['i0e', 'i1e', 'entr'].map((name) => composed(name, POSITIVE)),
  ...['ndtri', 'logit'].map((name) => composed(name, [0.1, 0.9])),
  composed('sinc', [-2, 2]),
  ...['besselJ', 'besselI', 'besselIe'].map((name) => row(name, (d) => void d.op(name, d.int(4), ref(at(d, POSITIVE))))),
  shaped('gammainc', [[0.7], [2], [3.5]], POSITIVE),
  shaped('gammaincc', [[0.7], [2], [3.5]], POSITIVE),
  shaped('zeta', [[1.5], [2], [4]], [0.6, 4]),
  shaped(
    'betainc',
    [
      [2, 3],
      [0.7, 1.5],
    ],
    [0.1, 0.9],
  ),
  // By their shapes too, which have a first derivative.
  pair('gammainc', [0.5, 4], POSITIVE, 'gammainc by its shape'),
  pair('gammaincc', [0.5, 4], POSITIVE, 'gammaincc by its shape'),
  pair('zeta', [1.5, 5], [0.6, 4], 'zeta by its shape'),
  row(
    'betainc by its shapes',
    (d) => {
      const x = at(d, [0.1, 0.9])
      const [a, b] = [0, 1].map(() => ref(within(d, like(d, shapeOf(x), dtypeOf(x)), [0.6, 4])))
      d.op('betainc', a!, b!, ref(x))
    },
    false,
  ),
  pair('xlog1py', [-2, 2], [-0.6, 2]),
  pair('relEntr', POSITIVE, POSITIVE),
  pair('klDiv', POSITIVE, POSITIVE),
  row(
    'logcumsumexp',
    (d) => {
      const x = d.float((v) => shapeOf(v).length > 0)
      d.op('logcumsumexp', ref(x), { axis: axisOf(d, x), ...(d.chance(0.3) && { reverse: true as Template }) })
    },
    false,
  ),
  ...['fft', 'ifft', 'rfft', 'irfft', 'fftn', 'ifftn', 'rfftn', 'irfftn'].map((name) =>
    row(
      name,
      (d) => {
        const x = d.float(
          (v) => shapeOf(v).length > 0 && shapeOf(v).every((n) => n > 0) && (shapeOf(v).at(-1)! > 1 || !name.startsWith('irfft')),
        )
        const imaginary = !name.startsWith('rfft') && d.chance(0.5)
        const given: Template = imaginary ? { re: ref(x), im: ref(like(d, shapeOf(x), dtypeOf(x))) } : ref(x)
        const one = !name.endsWith('n')
        d.emit(name, [given, { norm: d.of(['ortho', 'forward', 'backward']), ...(one && d.chance(0.4) && { n: d.between(2, 7) }) }])
      },
      false,
    ),
  ),
  ...['fft2', 'ifft2', 'rfft2', 'irfft2'].map((name) =>
    row(
      name,
      (d) => {
        const enough = name === 'irfft2' ? 1 : 0
        d.emit(name, [ref(d.float((v) => shapeOf(v).length > 1 && shapeOf(v).every((n) => n > 0) && shapeOf(v).at(-1)! > enough))])
      },
      false,
    ),
  ),
  ...['fftshift', 'ifftshift'].map((name) => row(name, (d) => void d.op(name, ref(d.float((v) => shapeOf(v).length > 0))), false)),
  row(
    'fftConvolve',
    (d) => {
      const x = d.float((v) => shapeOf(v).length > 0 && shapeOf(v).every((n) => n > 0))
      d.op('fftConvolve', ref(x), ref(like(d, shapeOf(x), dtypeOf(x))), { mode: d.of(['full', 'same', 'valid']) })
    },
    false,
  ),
  row(
    'stft',
    (d) => void d.emit('stft', [ref(d.float((v) => shapeOf(v).at(-1)! > 3)), { size: d.between(2, 3), hop: d.between(1, 3) }]),
    false,
  ),
  row(
    'istft',
    (d) => {
      const x = d.float((v) => shapeOf(v).length > 1 && shapeOf(v).at(-2) === 2 && shapeOf(v).at(-1)! > 1)
      d.op('istft', ref(x), { size: 2, hop: 1, window: [1, 2], center: d.chance(0.5) as Template })
    },
    false,
  ),
  ...['hann', 'hamming', 'blackman', 'fftfreq', 'rfftfreq'].map((name) => row(name, (d) => void d.op(name, d.between(1, 5)), false)),
  row('kaiser', (d) => void d.op('kaiser', d.between(1, 5), d.of([0.5, 3])), false),
]
