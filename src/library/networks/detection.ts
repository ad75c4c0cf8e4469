/** Which of many boxes that lie on each other are kept. */
import { badShape, showShape } from '../../core/errors/explain.js'
import { choice, integer, number, type OptionsOf } from '../../core/errors/options.js'
import { MAX_SIZE } from '../../core/graph/shape.js'
import { add, div, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { part, positions } from '../../core/ops/arrays.js'
import { eq, gt, or } from '../../core/ops/compare.js'
import { full } from '../../core/ops/construct.js'
import { concat } from '../../core/ops/joins.js'
import { reshape } from '../../core/ops/layout/layout.js'
import { floats, operation } from '../../core/ops/operation.js'
import { argmax } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { NonMaxSuppressionFn } from '../../core/types/signatures/windows.js'
import { scan } from '../../families/control.js'
import { gather } from '../../families/indexing.js'

const never = Number.NEGATIVE_INFINITY
const loop = scan as unknown as (f: unknown, init: AnyExpr, xs: null, options: object) => readonly [AnyExpr, AnyExpr]

interface Box {
  readonly left: AnyExpr
  readonly top: AnyExpr
  readonly right: AnyExpr
  readonly bottom: AnyExpr
}
const formats = {
  /** Two opposite corners, in any order. */
  xyxy: ([a, b, c, d]) => ({ left: minimum(a, c), top: minimum(b, d), right: maximum(a, c), bottom: maximum(b, d) }),
  xywh: ([a, b, w, h]) => ({ left: a, top: b, right: add(a, w), bottom: add(b, h) }),
  cxcywh: ([x, y, w, h]) => ({
    left: sub(x, div(w, 2)),
    top: sub(y, div(h, 2)),
    right: add(x, div(w, 2)),
    bottom: add(y, div(h, 2)),
  }),
} satisfies Readonly<Record<string, (columns: readonly [AnyExpr, AnyExpr, AnyExpr, AnyExpr]) => Box>>
const areaOf = ({ left, top, right, bottom }: Box): AnyExpr => mul(sub(right, left), sub(bottom, top))
const mapped = (b: Box, f: (side: AnyExpr) => AnyExpr): Box => ({ left: f(b.left), top: f(b.top), right: f(b.right), bottom: f(b.bottom) })
/** What two boxes share, divided by what they cover together. */
const overlap = (a: Box, b: Box): AnyExpr => {
  const shared = areaOf({
    left: maximum(a.left, b.left),
    top: maximum(a.top, b.top),
    right: maximum(minimum(a.right, b.right), maximum(a.left, b.left)),
    bottom: maximum(minimum(a.bottom, b.bottom), maximum(a.top, b.top)),
  })
  return div(shared, sub(add(areaOf(a), areaOf(b)), shared))
}

const keepingOptions = {
  /** Boxes that overlap a box with a higher score by more than this are dropped; 0.5 unless given. */
  iou: number(0.5, { from: 0, to: 1 }),
  /** Only boxes with a score above this count. */
  score: number(never),
  /** How many indices there are, as many as boxes unless given. */
  size: integer(undefined, { from: 0, to: MAX_SIZE }),
  /** The value of the remaining places: -1 unless given. */
  fill: integer(-1),
  /** What the four numbers of a box are: two corners unless given. */
  format: choice(['xyxy', 'xywh', 'cxcywh'], 'xyxy', 'format'),
}
/** Options of `nonMaxSuppression`. */
interface NonMaxSuppressionOptions extends OptionsOf<typeof keepingOptions> {}
/**
 * Non-maximum suppression: the indices of the boxes that are kept, by descending score. The box with the highest score is kept, every box that overlaps it by more than `iou`
 * (intersection over union, 0.5 unless given) is dropped, and so on. Only boxes with a score above `score` count; NaN and -infinity never do. `size` is how many there may be, as
 * many as boxes unless given: the remaining places hold `fill`.
 *
 * `format` is 'xyxy', two opposite corners in any order; 'xywh', the first corner, width and height; or 'cxcywh', the centre, width and height. A call takes one class of one
 * image; use `vmap` for many.
 *
 * Shapes  boxes: [n, 4], scores: [n] -> [size].   Dtype  i32.   Rule  none: indices have no tangent.   Source  torchvision nms; ONNX NonMaxSuppression.
 * Errors  ShapeMismatch for boxes or scores of other shapes, BadInput for invalid options.
 * @example nonMaxSuppression([[0, 0, 2, 2], [0, 0, 2, 3], [5, 5, 6, 6]], [0.6, 0.9, 0.5], { size: 3 })   // [1, 2, -1]
 */
export const nonMaxSuppression: NonMaxSuppressionFn<NonMaxSuppressionOptions> = operation(
  'nonMaxSuppression',
  { boxes: floats, scores: floats },
  keepingOptions,
  ({ boxes, scores }, o, op) => {
    const n = scores.shape[0]!
    if (boxes.shape.length !== 2 || boxes.shape[1] !== 4 || scores.shape.length !== 1 || boxes.shape[0] !== n)
      badShape(
        op,
        [boxes.shape, scores.shape],
        `boxes ${showShape(boxes.shape)} and scores ${showShape(scores.shape)} do not fit together.`,
        'give [n, 4] and [n]; vmap takes many.',
      )
    const size = o.size ?? n
    const steps = Math.min(size, n)
    const rest = full([size - steps], o.fill, 'i32')
    if (steps === 0) return rest
    const column = (i: number): AnyExpr => reshape(part(stopGradient(boxes) as AnyExpr, 1, i, 1), [n])
    const all: Box = formats[o.format]([column(0), column(1), column(2), column(3)])
    const own = stopGradient(scores) as AnyExpr
    const place = positions([n], 0)
    const step = (left: AnyExpr): readonly [AnyExpr, AnyExpr] => {
      const best = argmax(left) as AnyExpr
      const at = (side: AnyExpr): AnyExpr => gather(side, best as never)
      const gone = or(gt(overlap(mapped(all, at), all), o.iou), eq(place, best))
      return [where(gone, never, left), where(gt(at(left), never), best, o.fill)]
    }
    const [, kept] = loop(step, where(gt(own, o.score), own, never), null, { length: steps })
    return concat([kept, rest])
  },
)
