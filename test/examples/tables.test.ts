/** Tables: columns of a CSV file and of an Arrow file are the same batches; the line is that of least squares; what an Arrow column may have is told. */
import { Float64, Table, tableFromArrays, tableFromIPC, tableToIPC, vectorFromArray } from 'apache-arrow'
import { describe, expect, it } from 'vitest'
import * as tables from '../../examples/tables.js'
import { batches } from '../../src/train/index.js'
import { pictured } from './told.js'

describe('tables', () => {
  it('both files give the same batches, and the line of least squares', async () => {
    const { result, text } = await pictured((log, out) => tables.main(log, { out }))
    const { data, same, found, model, worst } = result
    expect([data.rows, data.steps, same.rows, same.steps, model.length]).toEqual([32, 4, 32, 4, 32])
    for (let step = 0; step < 4; step++) {
      const [a, b] = [data.at(3, step), same.at(3, step)]
      expect(a.y.toArray()).toEqual(b.y.toArray())
      expect(b.x.toArray()).toEqual([...a.x.wt.data].map((wt, i) => [wt, a.x.hp.data[i]!, a.x.manual.data[i]!]))
    }
    // R: lm(mpg ~ I(wt - 3) + I(hp / 100 - 1.5) + am, mtcars)
    expect(found.constant).toBeCloseTo(19.745, 1)
    expect(found.wt).toBeCloseTo(-2.8786, 1)
    expect(found.hp).toBeCloseTo(-3.7479, 1)
    expect(found.manual).toBeCloseTo(2.0837, 1)
    expect(worst).toBe('Toyota Corolla')
    expect(text).toMatch(/^32 cars in 4 batches/)
  })
  it('a column of several parts is one array, and one with nulls is refused: its typed array has zeros there', () => {
    const table = tables.arrowTable()
    expect(tables.fromArrow(tableToIPC(table.concat(table))).y.length).toBe(64)
    const rest = tableFromArrays({ hp: [1, 2, 3], wt: [1, 2, 3], gearbox: ['manual', 'manual', 'automatic'] })
    const some = rest.assign(new Table({ mpg: vectorFromArray([1, null, 3], new Float64()) }))
    expect(some.getChild('mpg')!.toArray()[1]).toBe(0)
    expect(() => tables.fromArrow(tableToIPC(some))).toThrow('nulls in the column mpg')
    expect(() => tables.fromArrow(tableToIPC(tableFromArrays({ mpg: [1] })))).toThrow('no column wt')
  })
  it('columns keep their dtypes: float, int and bool', () => {
    const bytes = tableToIPC(
      tableFromArrays({ f: Float32Array.of(1, 2), d: Float64Array.of(1, 2), i: Int32Array.of(1, 2), b: [true, false] }),
    )
    const read = tableFromIPC(bytes)
    const of = (name: 'f' | 'd' | 'i' | 'b') => read.getChild(name)!.toArray() as Float32Array
    const { x } = batches({ x: { f: of('f'), d: of('d'), i: of('i'), b: of('b') } }, { size: 2 }).at(0, 0)
    expect([x.f.dtype, x.d.dtype, x.i.dtype, x.b.dtype]).toEqual(['f32', 'f64', 'i32', 'bool'])
  })
})
