// The spectrum of two tones; the transform is linear, so it has a gradient like any other operation.
import { add, evaluate, mul, rfft, sin, sqrt, square, tensor } from 'codual'
import { plot } from 'playground'

const n = 64
const t = tensor(Array.from({ length: n }, (_, i) => (2 * Math.PI * i) / n))
const tones = evaluate(add(sin(mul(t, 5)), mul(0.5, sin(mul(t, 12)))))
const { re, im } = rfft(tones)
const size = evaluate(sqrt(add(square(re), square(im))))
plot(
  Array.from({ length: 33 }, (_, i) => i),
  size,
  { title: 'spectrum', points: true },
)
size.data[5] // 32
size.data[12] // 16
