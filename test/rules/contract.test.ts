import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aval } from '../../src/core/graph/aval.js'
import { APPLY, asExpr, asNode, input, linearize } from '../../src/core/graph/expr.js'
import { sizeOf, stridesOf } from '../../src/core/graph/shape.js'
import { makeTensor } from '../../src/core/graph/tensor.js'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested, random } from './values.js'

const { matmul, matmulAdd, einsum, tensordot, mul, square, dot, kron, vecdot, outer, trace, vdot } = untyped

const a = [
  [1, 2, 3],
  [4, 5, 6],
]
const cube = [
  [
    [0, 1],
    [2, 3],
  ],
  [
    [4, 5],
    [6, 7],
  ],
]

// Values by NumPy 2.4.
describe('values', () => {
  it('matmul of vectors, matrices and stacks', () => {
    expect(nested(matmul([1, 2], [3, 4]))).toBe(11)
    expect(nested(matmul(a, [1, 0, -1]))).toEqual([-2, -2])
    expect(nested(matmul([1, -1], a))).toEqual([-3, -3, -3])
    expect(nested(matmul(cube, [[1], [1]]))).toEqual([
      [[1], [5]],
      [[9], [13]],
    ])
    expect(nested(matmulAdd([[1]], [[1, 2]], [[3], [4]]))).toEqual([[12]])
    expect(asNode(matmul([[1]], makeTensor([true], [1, 1]))).dtype).toBe('i32')
    expect(nested(matmul([[], []], makeTensor([], [0, 2])))).toEqual([
      [0, 0],
      [0, 0],
    ])
  })
  it('dot, as NumPy has it', () => {
    expect(nested(dot([1, 2, 3], [4, 5, 6]))).toBe(32)
    expect(nested(dot(2, [1, 2]))).toEqual([2, 4])
    expect(nested(dot([1, 2], 2))).toEqual([2, 4])
    expect(nested(dot(2, 3))).toBe(6)
    expect(nested(dot(a, [1, 1, 1]))).toEqual([6, 15])
    expect(nested(dot([[1, 2]], [3, 4]))).toEqual([11])
    expect(nested(dot([1, 1], a))).toEqual([5, 7, 9])
    expect(nested(dot(a, [[1, 0], [0, 1], [1, 1]]))).toEqual([[4, 5], [10, 11]]) // biome-ignore format: one row
    expect(nested(dot([1, 1], cube))).toEqual([[2, 4], [10, 12]]) // biome-ignore format: one row
    expect(nested(dot(cube, [1, 1]))).toEqual([[1, 5], [9, 13]]) // biome-ignore format: one row
    expect(nested(dot(cube, [[1], [1]]))).toEqual([[[1], [5]], [[9], [13]]]) // biome-ignore format: one row
    const all = nested(dot(cube, cube)) as number[][][][]
    expect(asNode(dot(cube, cube)).shape).toEqual([2, 2, 2, 2])
    expect(all[0]![0]).toEqual([[2, 3], [6, 7]]) // biome-ignore format: one row
    expect(all[1]![1]).toEqual([[14, 27], [66, 79]]) // biome-ignore format: one row
    expect(asNode(dot(makeTensor([], [2, 0]), makeTensor([], [0, 3]))).shape).toEqual([2, 3])
    expect(asNode(dot(makeTensor([1, 2], [1, 2], 'f32'), makeTensor([1, 2], [2, 1], 'f32'))).dtype).toBe('f32')
  })
  it('vecdot, rows with rows', () => {
    expect(nested(vecdot([1, 2, 3], [4, 5, 6]))).toBe(32)
    expect(nested(vecdot(a, [1, 1, 1]))).toEqual([6, 15])
    expect(nested(vecdot(a, a))).toEqual([14, 77])
    expect(nested(vecdot(a, a, { axis: 0 }))).toEqual([17, 29, 45])
    expect(nested(vecdot(a, a, { axis: -2 }))).toEqual([17, 29, 45])
    expect(nested(vecdot(cube, [[1, 1], [1, 0]]))).toEqual([[1, 2], [9, 6]]) // biome-ignore format: one row
    expect(nested(vecdot(makeTensor([], [2, 0]), makeTensor([], [2, 0])))).toEqual([0, 0])
    expect(asNode(vecdot(makeTensor([1], [1], 'f32'), [2])).dtype).toBe('f32')
    expect(gradientOf((x) => square(vecdot(x, [1, 2])), [2], [3, 4])).toEqual([22, 44])
  })
  it('vdot, outer, kron, trace', () => {
    expect(nested(vdot(a, [1, 2, 3, 4, 5, 6]))).toBe(91)
    expect(nested(outer([1, 2], [3, 4]))).toEqual([
      [3, 4],
      [6, 8],
    ])
    expect(asNode(outer(a, cube)).shape).toEqual([2, 3, 2, 2, 2])
    expect(nested(outer(2, [1, 2]))).toEqual([2, 4])
    expect(nested(kron([[1, 2]], [[1], [3]]))).toEqual([
      [1, 2],
      [3, 6],
    ])
    expect(nested(kron([1, 10], cube))).toEqual([
      [
        [0, 1, 0, 10],
        [2, 3, 20, 30],
      ],
      [
        [4, 5, 40, 50],
        [6, 7, 60, 70],
      ],
    ])
    expect(nested(trace(cube))).toEqual([3, 11])
  })
  it('einsum', () => {
    expect(nested(einsum('ij,kj->ik', a, [[1, 0, -1]]))).toEqual([[-2], [-2]])
    expect(nested(einsum('ij', a))).toEqual(a)
    expect(nested(einsum('ba', a))).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    expect(nested(einsum('ij,jk', a, [[1], [1], [1]]))).toEqual([[6], [15]])
    expect(
      nested(
        einsum('ii', [
          [1, 2],
          [3, 4],
        ]),
      ),
    ).toBe(5)
    expect(nested(einsum(' iij -> ij ', cube))).toEqual([
      [0, 1],
      [6, 7],
    ])
    expect(nested(einsum('i,i->', [1, 2], [3, 4]))).toBe(11)
    expect(nested(einsum('i,j->ji', [1, 2], [3, 4]))).toEqual([
      [3, 6],
      [4, 8],
    ])
    expect(nested(einsum('ij,j,i->', a, [1, 1, 1], [1, -1]))).toBe(-9)
    expect(nested(einsum('->', 3))).toBe(3)
    expect(nested(einsum(',i', 2, [1, 2]))).toEqual([2, 4])
  })
  it('tensordot', () => {
    expect(nested(tensordot(a, a))).toBe(91)
    expect(nested(tensordot(a, [1, 1, 1], 1))).toEqual([6, 15])
    expect(asNode(tensordot(a, cube, 0)).shape).toEqual([2, 3, 2, 2, 2])
    expect(
      nested(
        tensordot(cube, cube, [
          [0, 2],
          [1, -1],
        ]),
      ),
    ).toEqual([
      [24, 64],
      [36, 108],
    ])
  })
  it('dtypes', () => {
    expect(asNode(einsum('ij,j->i', makeTensor([1, 2], [1, 2], 'f32'), [1, 2])).dtype).toBe('f32')
    expect(asNode(dot(makeTensor([1, 2], [2], 'f32'), [1, 2])).dtype).toBe('f32')
    expect(asNode(einsum('i->', [1, 2])).dtype).toBe('f64')
  })
})

/** The definition: a loop over every value of every letter. */
const naive = (terms: readonly string[], output: string, shapes: readonly (readonly number[])[], data: readonly ArrayLike<number>[]) => {
  const size = new Map<string, number>()
  terms.forEach((t, i) => {
    ;[...t].forEach((l, k) => {
      size.set(l, shapes[i]![k]!)
    })
  })
  const letters = [...size.keys()]
  const shape = [...output].map((l) => size.get(l)!)
  const out = new Float64Array(sizeOf(shape))
  const at: Record<string, number> = {}
  const flat = (term: string, s: readonly number[]): number => {
    const strides = stridesOf(s)
    return [...term].reduce((o, l, k) => o + at[l]! * strides[k]!, 0)
  }
  const loop = (depth: number): void => {
    if (depth === letters.length) {
      out[flat(output, shape)]! += terms.reduce((p, t, i) => p * data[i]![flat(t, shapes[i]!)]!, 1)
      return
    }
    for (let i = 0; i < size.get(letters[depth]!)!; i++) {
      at[letters[depth]!] = i
      loop(depth + 1)
    }
  }
  loop(0)
  return { shape, data: Array.from(out) }
}

describe('einsum is its definition', () => {
  const alphabet = ['i', 'j', 'k', 'l', 'M']
  const specs = fc
    .record({
      terms: fc.array(fc.array(fc.constantFrom(...alphabet), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      sizes: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: alphabet.length, maxLength: alphabet.length }),
      order: fc.shuffledSubarray(alphabet),
      implicit: fc.boolean(),
      seed: fc.nat(),
    })
    .map(({ terms, sizes, order, implicit, seed }) => {
      const all = terms.flat()
      const output = implicit ? all.filter((l) => all.indexOf(l) === all.lastIndexOf(l)).sort() : order.filter((l) => all.includes(l))
      const next = random(seed)
      const shapes = terms.map((t) => t.map((l) => sizes[alphabet.indexOf(l)]!))
      const data = shapes.map((s) => Array.from({ length: sizeOf(s) }, () => Math.floor(9 * next()) - 4))
      const names = terms.map((t) => t.join(''))
      return { spec: names.join(',') + (implicit ? '' : `->${output.join('')}`), names, output: output.join(''), shapes, data }
    })
  const tensors = (shapes: readonly (readonly number[])[], data: readonly number[][]) =>
    shapes.map((s, i) => makeTensor(data[i]!, s as number[], 'f64'))

  it('for any spec: whole numbers, so exactly', () => {
    fc.assert(
      fc.property(specs, ({ spec, names, output, shapes, data }) => {
        const want = naive(names, output, shapes, data)
        const got = evaluated(einsum(spec, ...tensors(shapes, data)))
        expect(got.shape).toEqual(want.shape)
        expect(Array.from(got.data, (x) => x + 0)).toEqual(want.data.map((x) => x + 0))
      }),
      { numRuns: 300 },
    )
  })
  it('an ellipsis stands for axes without letters: from the right, those of length 1 broadcast', () => {
    const hidden = ['Z', 'Y'] // from the right
    const operand = fc.record({
      before: fc.array(fc.constantFrom('i', 'j'), { maxLength: 2 }),
      after: fc.array(fc.constantFrom('j', 'k'), { maxLength: 2 }),
      axes: fc.option(fc.array(fc.boolean(), { maxLength: 2 }), { nil: undefined }), // of each, from the right: is its length 1?
    })
    const given = fc.record({
      operands: fc.array(operand, { minLength: 1, maxLength: 3 }),
      seed: fc.nat(),
      end: fc.boolean(),
      implicit: fc.boolean(),
    })
    fc.assert(
      fc.property(given, ({ operands, seed, end, implicit }) => {
        const size: Record<string, number> = { i: 2, j: 3, k: 1, Z: 1, Y: 1 }
        for (const { axes } of operands)
          axes?.forEach((one, k) => {
            if (!one) size[hidden[k]!] = 4 - k
          })
        const next = random(seed)
        const shapes: number[][] = []
        const names: string[] = []
        const terms = operands.map(({ before, after, axes }) => {
          const own = (axes ?? []).map((one, k) => ({ l: hidden[k]!, d: one ? 1 : size[hidden[k]!]! })).reverse()
          shapes.push([...before.map((l) => size[l]!), ...own.map((x) => x.d), ...after.map((l) => size[l]!)])
          names.push([...before, ...own.filter((x) => x.d === size[x.l]).map((x) => x.l), ...after].join(''))
          return `${before.join('')}${axes === undefined ? '' : '...'}${after.join('')}`
        })
        const data = shapes.map((s) => Array.from({ length: sizeOf(s) }, () => Math.floor(9 * next()) - 4))
        const letters = operands.flatMap((o) => [...o.before, ...o.after])
        const most = Math.max(0, ...operands.map((o) => o.axes?.length ?? 0))
        const wide = hidden.slice(0, most).reverse().join('')
        const once = letters.filter((l) => letters.indexOf(l) === letters.lastIndexOf(l)).sort()
        const some = [...new Set(letters)].slice(0, 2)
        const output = implicit ? wide + once.join('') : end ? some.join('') + wide : wide + some.join('')
        const spec = terms.join(',') + (implicit ? '' : `->${end ? `${some.join('')}...` : `...${some.join('')}`}`)
        const plain = names.map((n) => [...n].map((l) => size[l]!))
        const want = naive(names, output, plain, data)
        const got = evaluated(einsum(spec, ...tensors(shapes, data)))
        expect(got.shape, spec).toEqual(want.shape)
        expect(
          Array.from(got.data, (x) => x + 0),
          spec,
        ).toEqual(want.data.map((x) => x + 0))
      }),
      { numRuns: 500 },
    )
  })
  it('and so is its gradient: einsum of the other operands', () => {
    fc.assert(
      fc.property(specs, ({ spec, names, output, shapes, data }) => {
        const rest = tensors(shapes, data).slice(1)
        // d/dx0 of sum(einsum) is the same loop with x0 left out of the product.
        const one = data[0]!.map((_, k) => {
          const unit = data[0]!.map((__, i) => (i === k ? 1 : 0))
          return naive(names, output, shapes, [unit, ...data.slice(1)]).data.reduce((s, x) => s + x, 0)
        })
        expect(gradientOf((x) => einsum(spec, x, ...rest), shapes[0]!, data[0]!).map((x) => x + 0)).toEqual(one.map((x) => x + 0))
      }),
      { numRuns: 100 },
    )
  })
})

describe('derivatives', () => {
  it('of products', () => {
    expect(gradientOf((x) => dot(x, [3, 4]), [2], [1, 2])).toEqual([3, 4])
    expect(gradientOf((x) => dot(x, x), [2], [1, 2])).toEqual([2, 4])
    expect(
      gradientOf(
        (x) =>
          mul(
            outer(x, [1, 10]),
            a.map((r) => r.slice(0, 2)),
          ),
        [2],
        [0, 0],
      ),
    ).toEqual([21, 54])
    expect(gradientOf((x) => trace(x), [2, 2], [1, 2, 3, 4])).toEqual([1, 0, 0, 1])
    expect(gradientOf((x) => trace(x, { offset: 1 }), [2, 3], [1, 2, 3, 4, 5, 6])).toEqual([0, 1, 0, 0, 0, 1])
    expect(gradientOf((x) => square(kron(x, [[1, 2]])), [1, 2], [3, 4])).toEqual([30, 40])
    expect(gradientOf((x) => vdot(x, [1, 2, 3, 4]), [2, 2], [0, 0, 0, 0])).toEqual([1, 2, 3, 4])
    expect(gradientOf((x) => tensordot(x, a, [[0], [1]]), [3], [0, 0, 0])).toEqual([5, 7, 9])
  })
})

describe('what einsum is made of', () => {
  const primitives = (spec: string, ...shapes: readonly (readonly number[])[]): string[] =>
    linearize([asNode(einsum(spec, ...shapes.map((s) => asExpr(input(aval(s, 'f64'))))))])
      .nodes.filter((n) => n.kind === APPLY)
      .map((n) => n.prim!.name)
  it('one product, where the letters are in its order', () => {
    expect(primitives('ij,jk->ik', [2, 3], [3, 4])).toEqual(['matmul'])
    expect(primitives('bij,bjk->bik', [5, 2, 3], [5, 3, 4])).toEqual(['matmul'])
    expect(primitives('ij,kj->ik', [2, 3], [4, 3])).toEqual(['transpose', 'matmul'])
    expect(primitives('ij,jk->ki', [2, 3], [3, 4])).toEqual(['transpose', 'transpose', 'matmul'])
  })
  it('no product where nothing is summed over a pair, and sums before products', () => {
    expect(primitives('i,i->i', [3], [3])).toEqual(['mul'])
    expect(primitives('ijk,j->j', [2, 3, 4], [3])).toEqual(['sum', 'mul'])
  })
})

describe('errors', () => {
  it('name what is wrong', () => {
    expect(errorOf(() => matmul(a, a))).toBe('ShapeMismatch')
    expect(errorOf(() => matmulAdd(a, a, [[1], [2], [3]]))).toBe('ShapeMismatch')
    expect(errorOf(() => dot(a, [1, 2]))).toBe('ShapeMismatch')
    expect(errorOf(() => dot(a, a))).toBe('ShapeMismatch')
    expect(errorOf(() => dot([a, a, a], [a, a]))).toBe('ShapeMismatch')
    expect(errorOf(() => vecdot(a, [1, 2]))).toBe('ShapeMismatch')
    expect(errorOf(() => vecdot(1, [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => vecdot([a, a, a], [a, a]))).toBe('ShapeMismatch')
    expect(errorOf(() => vecdot(a, [1, 2], { axis: 0 }))).toBe('ShapeMismatch')
    expect(errorOf(() => vecdot(a, a, { axis: 2 }))).toBe('BadInput')
    expect(errorOf(() => vdot([1, 2], [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => trace([1]))).toBe('ShapeMismatch')
    expect(errorOf(() => einsum('...i->i', a))).toBe('BadInput')
    expect(errorOf(() => einsum('...i...->i', a))).toBe('BadInput')
    expect(errorOf(() => einsum('..i->i', [1]))).toBe('BadInput')
    expect(errorOf(() => einsum('...ijk->i', a))).toBe('ShapeMismatch')
    expect(errorOf(() => einsum('...i,...i->...', a, [...a, [7, 8, 9]]))).toBe('ShapeMismatch')
    expect(errorOf(() => einsum('i->i->i', [1]))).toBe('BadInput')
    expect(errorOf(() => einsum('i', [1], [2]))).toBe('BadInput')
    expect(errorOf(() => einsum('i->j', [1]))).toBe('BadInput')
    expect(errorOf(() => einsum('i->ii', [1]))).toBe('BadInput')
    expect(errorOf(() => einsum('1', [1]))).toBe('BadInput')
    expect(errorOf(() => einsum(3 as unknown as string, [1]))).toBe('BadInput')
    expect(errorOf(() => einsum('ij', [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => einsum('i,i', [1], [1, 2]))).toBe('ShapeMismatch')
    expect(errorOf(() => einsum('ii', a))).toBe('ShapeMismatch')
    expect(errorOf(() => tensordot(a, a, 1))).toBe('ShapeMismatch')
    expect(errorOf(() => tensordot(a, a, 3))).toBe('BadInput')
    expect(errorOf(() => tensordot(a, a, [[0], [0, 1]]))).toBe('BadInput')
    expect(
      errorOf(() =>
        tensordot(a, a, [
          [0, 0],
          [0, 1],
        ]),
      ),
    ).toBe('BadInput')
    expect(errorOf(() => tensordot(a, a, [[2], [0]]))).toBe('BadInput')
  })
  it('in words', () => {
    expect(() => einsum('ij,jk->ik', a, a)).toThrow("einsum: 'j' is 3 and, in operand 1 of shape [2, 3], 2.")
    expect(() => dot(a, [1, 2])).toThrow('dot: the last axis of a and the axis of b differ: a is [2, 3], b is [2] (3 is not 2).')
    expect(() => dot(a, a)).toThrow('dot: the last axis of a and the second last of b differ: a is [2, 3], b is [2, 3] (3 is not 2).')
    expect(() => vecdot(a, [1, 2])).toThrow('vecdot: the vectors differ in length: a is [2, 3], b is [2] (3 is not 2).')
  })
})
