// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Faults put into the planner, one at a time: a text that stands once in a file, and what it becomes. Each computes something wrong for some program.
import type { Edit } from '../../mutants/edit.js'

export type Mutant = Edit
const of =
  (file: string) =>
  (name: string, find: string, put: string): Mutant => ({ name, file, find, put })
const [step, repeat, loops, image, engine, builder, ir, lower, schedule, fuse, places, emit, body, memory, cache, identity, ints, groups] = [
  'step', 'repeat', 'emit-repeat', '../cpu/image', '../cpu/engine', 'builder', 'ir', 'lower', 'schedule', 'fuse', 'places', 'emit', 'body', 'memory', 'cache', '../../core/graph/identity', 'ints', '../../core/graph/groups',
].map((f) => of(`backends/plan/${f}.ts`)) as [M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M] // biome-ignore format: names
type M = ReturnType<typeof of>

/** Sharing: which values, programs and plans are one. */
const sharing: readonly Mutant[] = [
  builder('values are equal without their shape', 'for (const d of shape) code.push(d)\n', ''),
  builder('values are equal without their position', 'position, this.ids.id(dtype), args.length]', '0, this.ids.id(dtype), args.length]'),
  builder('values are equal without their parameters', "paramsId = this.ids.paramsId(prim, params, kind === 'program')", 'paramsId = 0'),
  builder('values are equal without their primitive', 'prim === null ? -1 : this.ids.id(prim)', '-1'),
  builder('literals are equal by their high word', 'words.getInt32(0), words.getInt32(4)]', 'words.getInt32(0)]'),
  builder('literals are equal by their low word', 'words.getInt32(0), words.getInt32(4)]', 'words.getInt32(4)]'),
  builder('views are equal without their offset', 'this.first(view.base), view.offset, shape', 'this.first(view.base), 0, shape'),
  builder('views are equal without their strides', '...view.strides, ...shape]', '...shape]'),
  builder('views are equal without their base', '[-3, this.first(view.base), view', '[-3, 0, view'),
  builder('a strided view is its base', 'stridesOf(shape).every((s, i) => s === view.strides[i] || shape[i] === 1)', 'true'),
  builder('every view is contiguous', 'v.size === 0 || s.every((x, i)', 'v.size >= 0 || s.every((x, i)'),
  builder('keys leave out views', 'for (let i = 2; i < length; i++)', 'for (let i = length; i < length; i++)'),
  builder('keys leave out arguments', 'number[v.args[a]!]! : this.codes.word', '0 : this.codes.word'),
  builder('keys leave out the shapes of inputs', 'for (const d of v.shape) words.push(d)\n', ''),
  ir('keys leave out which values are returned', 'for (const o of outputs) words.push(number[o]!)\n', ''),
  ir('keys leave out which input is which', 'for (const i of made.inputs) words.push(i < 0 ? -1 : number[i]!)\n', ''),
  ir('literals have slots in build order', 'consts: inKeyOrder(b.consts, number)', 'consts: b.consts'),
  ints('codes are compared by their hash', 'while (i < code.length && words.get(at + i) === code[i]) i++', 'i = code.length'),
  ints('codes are compared but for their last word', 'if (i === code.length) return id', 'if (i >= code.length - 1) return id'),
  cache('keys are compared by their hash', 'if (a[i] !== b[i]) return false', 'if (a[i] === undefined) return false'),
  identity('-0 is 0', "Object.is(x, -0) ? '-0' : String(x)", 'String(x)'),
  identity('functions are equal', 'depth > DEEP) return `#${this.id(x)}`', "depth > DEEP) return '#'"),
  identity(
    'programs are equal without their arguments',
    '${this.paramsId(n.prim, n.payload)}(${args})',
    '${this.paramsId(n.prim, n.payload)}',
  ),
]
/** Values and views. */
const lowering: readonly Mutant[] = [
  ir('any literal is neutral', 'x !== undefined && Object.is(x, e)', 'x !== undefined'),
  ir('x * 1 is 1', 'return whole(1 - k)', 'return whole(k)'),
  ir('x * ones is x at any shape', 'sameShape(b.value(args[k]!).shape, shape) ? args[k] : undefined', 'args[k]'),
  ir('strided arguments go to whole kernels as they are', 'b.isContiguous(id) && !b.value', '!b.value'),
  lower('parts of arguments begin late', 'own(p.starts, 0)', 'own(p.starts, 1)'),
  lower('axes of smaller arguments are counted from the front', 'whole.shape.length - arg.shape.length', '0'),
  lower('a strided part is the whole', 'part.sizes[i] === d && part.strides[i] === 1', 'part.sizes[i] === d'),
  lower('starts are elements', 'o + s * v.strides[i]!, v.offset', 'o + s, v.offset'),
  lower('steps of slices are forgotten', 's * p.strides[i]!) }, aval', 's) }, aval'),
  lower('axes are merged that are no run', 'from[k]!.s !== next.s * next.d', 'from[k]!.s === Number.NaN'),
  lower('strides of split axes', 'stack.push(rest * from[k]!.s)', 'stack.push(from[k]!.s)'),
  lower('transposes keep their order', 'perm.map((p) => v.strides[p]!)', 'perm.map((_, p) => v.strides[p]!)'),
  lower('axes of length 1 are walked when broadcast', 'j < 0 || from[j] === 1 ? 0 : v.strides[j]!', 'j < 0 ? 0 : v.strides[j]!'),
  lower('parts of a split follow at once', 'at += n', 'at += 1'),
  lower('batches of matrices are runs', 'batch.length <= 1) return spread', 'batch.length >= 0) return spread'),
]
/** Which values share a kernel, and when it runs. */
const fusion: readonly Mutant[] = [
  schedule('kernels of other kinds cost no epoch', '!isDirect(values, v, k) ? 1 : 0', '!isDirect(values, v, k) ? 0 : 0'),
  schedule('what others read is sunk', 'uses.count(a) === 1 && epoch', 'uses.count(a) >= 1 && epoch'),
  fuse('terms are broadcast into accumulators', '!sameShape(term.shape, v.shape) ||', ''),
  fuse('any fold is added', "term.args.length === 1 && term.prim!.name === 'sum'", 'term.args.length === 1'),
  groups('levels do not grow', 'Math.max(l, this.levels[g]! + 1), level)', 'Math.max(l, this.levels[g]!), level)'),
  groups('units of any level are merged', 'groups.filter((g) => this.levels[g] === top)', 'groups'),
  fuse('loops of any shape are one', 'x.epoch === epoch[v.id] && sameShape(x.shape, shape)', 'x.epoch === epoch[v.id]'),
  fuse('loops of any epoch are one', '!x.closed && x.epoch === epoch[v.id] &&', '!x.closed &&'),
  fuse('values of a loop in reverse', 'epoch[a]! - epoch[b]! || a - b), shape', 'epoch[a]! - epoch[b]! || b - a), shape'),
  fuse('literals are never stored', '!v.constant || uses.some(v.id, (u) => !joinsLoops(values[u]!))', '!v.constant'),
  of('backends/plan/order.ts')('all units are ready', 'if (waits[i] === 0) heap.push(i)', 'heap.push(i)'),
  of('backends/plan/order.ts')(
    'several results are made by nobody',
    "v.kind === 'result' ? unitOf[v.args[0]!]! : unitOf[base]!",
    'unitOf[base]!',
  ),
]
/** Where values lie. */
const placing: readonly Mutant[] = [
  places('the first reader is the last', 'if (at > this.lastRead[base]!)', 'if (this.lastRead[base]! < 0)'),
  places('results of the program may be overwritten', 'this.lastRead[baseOf(this.values, o)] = Number.POSITIVE_INFINITY', 'void o'),
  places('an accumulator is read again by its own kernel', '.length !== 1) return undefined', '.length < 1) return undefined'),
  places('others read the accumulator later', 'if (others || this.returned', 'if (this.returned'),
  places('strided accumulators', '|| !contiguousIn(this.values[acc]!.shape, place.strides)) return undefined', ') return undefined'),
  places('storages of accumulators hold nothing else', 'return alive.some((x) => x !== base.id) ? undefined : place', 'return place'),
  places('what the kernel itself reads is dead', 'this.lastRead[x]! >= now', 'this.lastRead[x]! > now'),
  places('parts begin at elements', 'whole.offset + at * whole.strides[axis]!', 'whole.offset + at'),
  places('a part in two places', 'this.places[root.id] !== undefined || root.constant', 'root.constant'),
  places('parts that are returned', 'if (this.returned(root.id)) return undefined', ''),
  places('transposed parts', '!(v.view.offset === 0 && contiguousIn(v.shape, v.view.strides)))', '!(v.view.offset === 0))'),
  places('strided parts that other kernels read', "if (!['scalar', 'copy', 'fold', 'concat'].includes(user.kind)) return false", ''),
  places('strided parts that are read through views', '(user.id === c.id && j === k)', 'true'),
  places('products in columns', "if (root.kind === 'gemm' && (root.shape.length !== 2 || strides[1] !== 1)) return undefined", ''),
  places('regions begin at 0', 'o + s * whole.strides[i]!, whole.offset', 'o + 0 * s, whole.offset'),
  places('regions without steps', 'strides: whole.strides.map((s, i) => s * p.strides[i]!)', 'strides: whole.strides'),
  memory('storages die at their first use', 'last[o.storage] = k\n', 'if (last[o.storage]! < 0) last[o.storage] = k\n'),
  memory('results die', 'if (o.storage >= 0) last[o.storage] = steps.length', 'void o'),
  memory('inputs are born late', 'if (i >= 0) first[i] = last[i] = -1', 'void i'),
  step('loops overwrite what they read elsewhere', 'a.offset === b.offset &&', 'a.offset >= 0 &&'),
  step('loops overwrite at any stride', 'a.strides.every((x, i) => x === b.strides[i]) &&', ''),
  memory(
    'folds overwrite what they read',
    'mine.length !== 1 || kernel.outputs[s.writes.indexOf(mine[0]!)]!.fold !== undefined',
    'mine.length !== 1',
  ),
  memory('smaller storages are taken over', 'a.bytes === b.bytes && a.f16 === b.f16', 'a.f16 === b.f16'),
  memory('blocks that are too small', 'b.bytes >= bytes &&', 'b.bytes >= bytes - 64 &&'),
  memory('too much is given back', 'free(i).give(offset[i]!, aligned(bytes[i]!))', 'free(i).give(offset[i]!, aligned(bytes[i]!) + 64)'),
  memory('storages that were taken over are given back', 'if (reused.has(i)) continue\n', ''),
  memory('blocks apart are merged', 'before.offset + before.bytes === here.offset', 'before.offset + before.bytes <= here.offset'),
]
/** Steps and kernels. */
const emitting: readonly Mutant[] = [
  emit('operands are equal without their strides', '${d.storage},${d.offset},${d.strides.join()}', '${d.storage},${d.offset}'),
  emit('operands are equal without their offset', '${d.storage},${d.offset},${d.strides.join()}', '${d.storage},${d.strides.join()}'),
  emit('what is returned is not stored', 'this.places.returned(id) || this.fused.uses.some', 'this.fused.uses.some'),
  emit('what other loops read is not stored', 'this.places.returned(id) || this.fused.uses.some(id, (x) => this.fused.unitOf[x] !== unit)', 'this.places.returned(id)'),
  emit('folds begin where their axes are', 'keep ? p.strides[k++]! : 0', 'keep ? p.strides[0]! : 0'),
  emit('every fold is a sum', 'op: folds[v.prim!.name] as Fold', "op: 'sum' as Fold"),
  emit('folds add to what is there', 'accumulate },\n        })', 'accumulate: true },\n        })'),
  emit('no accumulator is copied', 'if (this.places.takeOver(unit, v, acc)) return\n', 'if (this.places.takeOver(unit, v, acc) || unit >= 0) return\n'),
  emit('matrices follow at once', 'strides: [m * n, p', 'strides: [n, p'),
  emit('batches of one matrix', 'run?.[0] ?? 0', '0'),
  emit('parts are copied to the beginning', 'this.target({ ...whole, offset }, c.dtype)', 'this.target(whole, c.dtype)'),
  emit('results in the order of their reading', 'byPosition.get(i)', 'results[i]?.value'),
  body('axes are walked as one', 'last?.s.every((x, i) => x === s[i]! * d)', 'last !== undefined'),
  body('folded and kept axes are one', 'last.f.every((x, i) => x === f[i])', 'last.f.length >= 0'),
  body('merged axes keep the outer stride', 'last.s = s\n', ''),
  body('axes of length 1 are walked', 'j < 0 || shape[j] === 1 ? 0 : view.strides[j]!', 'j < 0 ? 0 : view.strides[j]!'),
  body('kernels are equal without parameters', ':${this.ids.paramsId(o.prim, o.params)}(${o.args', ':(${o.args'),
  body('kernels are equal without accumulation', "${o.fold.accumulate ? '+' : ''}", ''),
  body('kernels are equal without folded axes', "${o.fold.axes.map((x) => (x ? 1 : 0)).join('')}", ''),
  body('kernels are equal whatever their strides', 'k.inputs.map((a) => a[0]).join', 'k.inputs.map(() => 0).join'),
] // biome-ignore format: rows

/** Loops: what a step is given, where its results go, what lives as long as the loop. */
const looping: readonly Mutant[] = [
  repeat('what only other carries read is left out', 'n || index.has(inputs[i]!))', 'n)'),
  repeat('slices are counted with what is the same', 'i >= carries && i < carries + slices).length', 'i >= carries).length'),
  ir('loops are equal without their length', 'repeat ${length} ${carries}', 'repeat ${carries}'),
  ir('loops are equal in both directions', '${slices} ${reverse} ${until}', '${slices} ${until}'),
  ir('loops are equal whatever they do', '${until} ${body.key.join()}', '${until}'),
  ir('slices are strided', 'contiguousIn(shape.slice(1), strides.slice(1)) ? id', 'shape.length > 0 ? id'),
  ir('a step gives what it was given', "const own = b.value(base).kind === 'input' || seen.has(base) ? b.copy(id) : id", 'const own = id'),
  ir('what is stacked is written over', 'id >= 0 && walkedRows(ir, carries, i).length === 0', 'id >= 0 - i'),
  loops('loops back begin at the first slice', 'reverse ? p.offset + (count - 1) * by : p.offset', 'p.offset'),
  loops('loops back go forward', 'reverse ? -by : by] }', 'by] }'),
  loops('slices stay', 'advance: [...this.moves(p), reverse ? -by : by]', 'advance: [...this.moves(p), 0]'),
  loops('inner loops forget the outer', 'p.advance?.[d] ?? 0)', '0)'),
  loops('what is found is what is left', 'found === reverse ? 1 : 0', 'found ? 1 : 0'),
  loops('steps write the row that they read', 'after: walking(first + by)', 'after: walking(first)'),
  loops('the last carry is the first', 'end: row(last)', 'end: row(first)'),
  loops('rows have no room for the last', '(count + 1) * size', 'count * size'),
  loops('a carry begins with what is there', 'if (taken === undefined) at.copy(begin, home, shape)', 'void taken'),
  loops('a carry that walks begins with what is there', 'at.copy(begin, row(first), shape)\n', ''),
  places('a carry is written over in the unit that reads it', 'return this.position[at]! < this.position[unit]!', 'return this.position[at]! <= this.position[unit]! + 1'),
  places('a carry is written over by any kernel', "units[unit]!.kind === 'loop' && (root.kind === 'scalar' || root.kind === 'copy')", 'true'),
  places('a carry is read at other points', '(a) => baseOf(this.values, a) !== carry || (this.values[a]!.view === undefined && sameShape(this.values[a]!.shape, root.shape)),', '() => true,'),
  places('a carry is written over whoever reads it', 'if (carry !== undefined && !this.isDeadBefore(carry, root)) return\n', ''),
  places('parts of results are made where the whole belongs', 'if (!whole || !made) return', 'if (!made) return'),
  places('what every step reads may be written over', 'if (ir.carried?.has(id) !== true) this.lastRead[id] = Number.POSITIVE_INFINITY', ''),
  places('parts of rows stay', 'this.put(root.id, { ...whole, offset, strides })', 'this.put(root.id, { storage: whole.storage, offset, strides })'),
  places('views of slices stay', 'return { ...p, offset: p.offset + v.view.offset, strides: v.view.strides }', 'return { storage: p.storage, offset: p.offset + v.view.offset, strides: v.view.strides }'),
  emit('results that are made elsewhere stay there', 'if (to !== undefined && (from.storage !== to.storage || from.offset !== to.offset)) this.copyTo(id, to, this.values[id]!.shape)', 'void from'),
  emit('slices of two steps are one operand', ",${d.advance?.join() ?? ''}`", '`'),
  memory('what a loop reads dies in its first step', 'last[storage] = Math.max(last[storage]!, end - 1)\n', ''),
  memory('what a loop stacks is born when it is written', 'first[storage] = Math.min(first[storage]!, from)\n', ''),
  loops('rows that are not reached are what was there', 'if (row !== undefined) at.copy(none, at.places.own(row), row.shape)', 'void row'),
  loops('a slice without which a step is left out ends the loop', 'const ends = until < carries', 'const ends = until >= 0'),
  loops('flags of slices stay', 'const place = ends ? homes[until]!.before : this.row(placeOf(until))', 'const place = ends ? homes[until]!.before : this.still(placeOf(until))'),
  ir('flags are found where they stood', 'read.indexOf(params.until)', 'params.until'),
  image('flags do not move', 'if (flag.advance !== undefined) moving.push', 'if (flag.advance === undefined) moving.push'),
  image('words of inner loops move with the outer', '(advance[l.depth] ?? 0) : 0', '(advance[0] ?? 0) : 0'),
  image('loops run once', 'words.put(at.iterations, loop.count)', 'words.put(at.iterations, 1)'),
  engine('a loop does not begin again where it began', '() => r.op(OP.i32_mul, step, () => r.op(OP.i32_sub, total, n))', '() => r.op(OP.i32_mul, step, 1)'),
] // biome-ignore format: rows

export const mutants: readonly Mutant[] = [...sharing, ...lowering, ...fusion, ...placing, ...emitting, ...looping]
