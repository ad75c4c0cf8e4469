// A primitive of one's own, with a parameter and a shape rule, from public exports alone: declared, applied, differentiated, compiled, read from JSON.
import * as t from 'io-ts'
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  applyPrimitive,
  aval,
  codualWith,
  definePlugin,
  isAdException,
  mul,
  primitive,
  raise,
  reference,
  repeat,
  rule,
  runSync,
  sum,
  type Tensor,
  toJSON,
} from '../../src/index.js'

interface Width {
  readonly width: number
}
const blocksPrimitive = primitive<'blockSums', Width, readonly ['float']>({
  name: 'blockSums',
  family: 'mine',
  args: ['float'],
  codec: t.type({ width: t.number }) as unknown as t.Type<Width>,
  shapeRule: ([x], { width }) => {
    const [n = 0] = x!.shape
    if (n % width !== 0)
      raise({
        _tag: 'BadInput',
        where: 'blockSums',
        reason: `${n} elements do not divide into blocks of ${width}.`,
        fix: 'pad it with zeros.',
      })
    return aval([n / width], x!.dtype)
  },
  meaning: ([x], { width }, [y]) => {
    y!.data.fill(0)
    for (let i = 0; i < x!.data.length; i++) y!.data[Math.floor(i / width)]! += x!.data[i]!
  },
  source: 'definition',
})
const blockSums = (x: unknown, width: number): AnyExpr => applyPrimitive(blocksPrimitive, [x], { width })[0]
const mine = codualWith(
  definePlugin({
    name: 'mine',
    ops: { blockSums: blocksPrimitive },
    rules: {
      blockSums: rule(blocksPrimitive, {
        frule: (_xs, [dx], { width }, { y }) => [y, dx._tag === 'Expr' ? blockSums(dx, width) : dx],
        rrule: (_xs, { width }, { y }) => [y, (yBar) => [repeat(yBar, width)]],
      }),
    },
    kernels: { cpu: { blockSums: ([x], params, outs) => blocksPrimitive.meaning([x!], params, outs) } },
  }),
)

describe('a primitive with a parameter', () => {
  const x = [1, 2, 3, 4]
  it('has a value on every backend', () => {
    expect(
      mine
        .compile((v) => blockSums(v, 2))(x)
        .toArray(),
    ).toEqual([3, 7])
    expect(
      mine
        .compile(
          (v) => blockSums(v, 2),
          reference(),
        )(x)
        .toArray(),
    ).toEqual([3, 7])
  })
  it('has derivatives in both modes, of any order', () => {
    const loss = (v: AnyExpr) => sum(mul(blockSums(v, 2), blockSums(v, 2)))
    expect(mine.grad(loss)(x).toArray()).toEqual([6, 6, 14, 14])
    expect(mine.jvp(loss)(x, [1, 0, 0, 1])[1].toArray()).toBe(20)
    expect(mine.hvp(loss)(x, [1, 0, 0, 1]).toArray()).toEqual([2, 2, 2, 2])
  })
  it('refuses what its shape rule refuses', () => {
    const failed = runSync(reference())((v) => blockSums(v, 3))(x)
    expect(failed).toMatchObject({
      _tag: 'Left',
      left: { _tag: 'BadInput', where: 'blockSums', reason: '4 elements do not divide into blocks of 3.' },
    })
    expect(() => mine.compile((v) => blockSums(v, 3))(x)).toThrow(/pad it with zeros/)
    try {
      raise({ _tag: 'BadInput', where: 'f', reason: 'no.' })
    } catch (e) {
      expect(isAdException(e)).toBe(true)
    }
  })
  it('is written as JSON and read again', () => {
    const json = toJSON(mine.toProgram((v) => blockSums(v, 2))(x))
    const read = mine.fromJSON(JSON.parse(JSON.stringify(json)), [blocksPrimitive])
    const again = read._tag === 'Right' ? (mine.fromProgram(read.right)(x) as Tensor).toArray() : read.left
    expect(again).toEqual([3, 7])
  })
})
