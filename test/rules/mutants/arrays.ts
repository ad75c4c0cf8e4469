// Mistakes in the rules of running extremes and of updates folded into slices.
import { type Mutant, mistakes } from './mutant.js'

const running: readonly Mutant[] = mistakes('arrays', 'rules/scans', [
  [
    'a running extreme has all of it for each equal',
    'count: maximum(recurrence(stays, one(is), axis, reverse), 1)',
    'count: maximum(one(is), 1)',
    'cummax cummin',
  ],
  [
    'a running extreme forgets what came before',
    'return [y, div(recurrence(stays, keep(dx), p.axis, p.reverse), count)]',
    'return [y, div(keep(dx), count)]',
    'cummax cummin',
  ],
  [
    'a running extreme does not divide',
    'return [y, div(recurrence(stays, keep(dx), p.axis, p.reverse), count)]',
    'return [y, recurrence(stays, keep(dx), p.axis, p.reverse)]',
    'cummax cummin',
  ],
  [
    'a cotangent of a running extreme is not divided',
    'recurrenceTransposed(stays, div(yBar, count), p.axis, p.reverse)',
    'recurrenceTransposed(stays, yBar, p.axis, p.reverse)',
    'cummax cummin',
  ],
  [
    'a cotangent of a running extreme runs forwards',
    'keep(recurrenceTransposed(stays, div(yBar, count), p.axis, p.reverse))',
    'keep(recurrence(stays, div(yBar, count), p.axis, p.reverse))',
    'cummax cummin',
  ],
  [
    'a cotangent of a running extreme is for all',
    'thunk(() => keep(recurrenceTransposed(',
    'thunk(() => ((v: AnyExpr) => (keep, v))(recurrenceTransposed(',
    'cummax cummin',
  ],
  ['a running extreme never stays', 'const stays = one(eq(shift(y, axis, reverse), y))', 'const stays = one(lt(y, y))', 'cummax cummin'],
  [
    'a running extreme looks the other way',
    'const stays = one(eq(shift(y, axis, reverse), y))',
    'const stays = one(eq(shift(y, axis, !reverse), y))',
    'cummax cummin',
  ],
  [
    'a batch of a running extreme has its axis',
    'reapply(primitive as typeof op.cummaxPrimitive, [x], { ...p, axis: p.axis + 1 })',
    'reapply(primitive as typeof op.cummaxPrimitive, [x], p)',
    'cummax cummin',
  ],
  [
    'a batch of a running extreme is the largest',
    'reapply(primitive as typeof op.cummaxPrimitive, [x]',
    'reapply(op.cummaxPrimitive, [x]',
    'cummin',
  ],
])

const folded: readonly Mutant[] = mistakes('arrays', 'rules/scatter-reduce', [
  ['equals do not share', 'return [y, div(du._tag ===', 'return [y, mul(1, du._tag ===', 'scatterReduce'],
  [
    'a tangent forgets the updates',
    "div(du._tag === 'Expr' ? scatterAdd(start, indices, keepGiven(du), p) : start, count)",
    'div(start, count)',
    'scatterReduce',
  ],
  ['a tangent has all updates', 'scatterAdd(start, indices, keepGiven(du), p)', 'scatterAdd(start, indices, du, p)', 'scatterReduce'],
  ['a tangent has all of x', "dx._tag === 'Expr' ? keep(dx) : zerosLike(x)", "dx._tag === 'Expr' ? dx : zerosLike(x)", 'scatterReduce'],
  ['a cotangent is not shared', 'const share = div(yBar, count)', 'const share = mul(yBar, 1)', 'scatterReduce'],
  ['a cotangent is for all of x', 'thunk(() => keep(share))', 'thunk(() => mul(share, 1))', 'scatterReduce'],
  [
    'a cotangent is for all updates',
    'thunk(() => keepGiven(gather(share, indices, p)))',
    'thunk(() => gather(share, indices, p))',
    'scatterReduce',
  ],
  [
    "x's own element does not count",
    'scatterAdd(one(own), indices, one(given), p)',
    'scatterAdd(zerosLike(y), indices, one(given), p)',
    'scatterReduce',
  ],
  ['updates do not count', 'scatterAdd(one(own), indices, one(given), p)', 'one(own)', 'scatterReduce'],
  ['an update is compared with x', 'eq(u, gather(y, indices, p))', 'eq(u, gather(x, indices, p))', 'scatterReduce'],
  [
    "a factor of a product forgets x's own",
    'return mul(reshape(unsorted, dims(u)), gather(x, indices, p))',
    'return reshape(unsorted, dims(u))',
    'scatterReduce',
  ],
  [
    'a factor of a product has those before it',
    'const product = mul(beside(false), beside(true))',
    'const product = beside(false)',
    'scatterReduce',
  ],
  [
    'factors of a product go on into the next place',
    'const same = eq(shift(place, axis, reverse), place)',
    'const same = eq(place, place)',
    'scatterReduce',
  ],
  ['places are not shifted', 'const place = add(asExpr(sorted as Node), 1)', 'const place = asExpr(sorted as Node)', 'scatterReduce'],
  ['negative places are the first', 'where(lt(indices, 0), add(indices, n), indices)', 'indices', 'scatterReduce'],
  [
    'factors of a product are not put back',
    'scatterAddAlongNode(asNode(zerosLike(product)), order as Node, asNode(product), axis)',
    'asNode(product)',
    'scatterReduce',
  ],
  [
    "x's own factor has no others",
    "const own = dx._tag === 'Expr' ? product(dx, reapply(scatterReducePrimitive, [onesLike(x), indices, u], p)) : ZeroTangent",
    'const own = dx',
    'scatterReduce',
  ],
  [
    "x's own factor has itself",
    'product(yBar, reapply(scatterReducePrimitive, [onesLike(x), indices, u], p))',
    'product(yBar, reapply(scatterReducePrimitive, [x, indices, u], p))',
    'scatterReduce',
  ],
  [
    'a cotangent of a factor is at another place',
    'product(gather(yBar, indices, p), others(x, indices, u, p))',
    'product(gather(y, indices, p), others(x, indices, u, p))',
    'scatterReduce',
  ],
  [
    'a batch is a product',
    'return reapply(scatterReducePrimitive, all, { ...q, mode })',
    "return reapply(scatterReducePrimitive, all, { ...q, mode: 'mul' })",
    'scatterReduce',
  ],
])

export const arrays: readonly Mutant[] = [...running, ...folded]
