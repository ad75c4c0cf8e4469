// Columns of a CSV file and of an Arrow file as minibatches: which cars use how much petrol. `npm run example:tables`
//
// The 32 cars are those of Motor Trend 1974 (Henderson and Velleman 1981). d3-dsv reads the texts of the file and apache-arrow its columns, whose typed arrays `batches` takes as they are.
// The line that is trained is the one of least squares, which is known.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Table, tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow'
import { csvParse } from 'd3-dsv'
import { add, type Expr, evaluate, explain, mul, tensor } from '../src/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { batches, fit } from '../src/train/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface TablesOptions {
  readonly epochs?: number
  readonly seed?: number
  readonly out?: string
}
/** Names of classes, in the order of their numbers. */
export const gearboxes = ['automatic', 'manual']

/** The cars of the CSV file: weight in thousands of pounds beyond 3, power in hundreds of horsepower beyond 1.5, and 1 for a manual gearbox. Its fields are texts; a row says what is a number and what is the number of a class. */
export const fromCsv = () => {
  const rows = csvParse(readFileSync(new URL('data/cars.csv', import.meta.url), 'utf8'))
  return {
    model: rows.map((row) => row.model!),
    x: rows.map((row) => [Number(row.wt) - 3, Number(row.hp) / 100 - 1.5, gearboxes.indexOf(row.gearbox!)]),
    y: Float64Array.from(rows, (row) => Number(row.mpg)),
  }
}
/** The same cars as a table of Arrow: numbers in columns of doubles, the gearbox as texts with a dictionary. */
export const arrowTable = (): Table => {
  const rows = csvParse(readFileSync(new URL('data/cars.csv', import.meta.url), 'utf8'))
  const numbers = (name: string) => Float64Array.from(rows, (row) => Number(row[name]))
  return tableFromArrays({ mpg: numbers('mpg'), hp: numbers('hp'), wt: numbers('wt'), gearbox: rows.map((row) => row.gearbox!) })
}
/** The columns of an Arrow file as typed arrays: a column without nulls is one, whatever parts the file has. */
export const fromArrow = (bytes: Uint8Array) => {
  const table = tableFromIPC(bytes)
  const column = (name: string) => {
    const found = table.getChild(name)
    // Where a null is, the typed array has a 0.
    if (found === null || found.nullCount > 0)
      throw new Error(`the file has ${found === null ? 'no column' : 'nulls in the column'} ${name}`)
    return found
  }
  const numbers = (name: string): Float64Array => column(name).toArray() as Float64Array
  return {
    x: {
      wt: numbers('wt').map((v) => v - 3),
      hp: numbers('hp').map((v) => v / 100 - 1.5),
      manual: Float64Array.from(column('gearbox').toArray() as readonly string[], (name) => gearboxes.indexOf(name)),
    },
    y: numbers('mpg'),
  }
}

type Column = Expr<[number], 'f64'>
/** Miles per gallon as a line in each column. */
export const line = {
  init: () => ({ wt: tensor(0), hp: tensor(0), manual: tensor(0), constant: tensor(0) }),
  apply: (p: Readonly<Record<'wt' | 'hp' | 'manual' | 'constant', Expr<[], 'f64'>>>, x: Readonly<Record<'wt' | 'hp' | 'manual', Column>>) =>
    add(add(mul(p.wt, x.wt), mul(p.hp, x.hp)), add(mul(p.manual, x.manual), p.constant)),
}

export const main = async (log: Log, { epochs = 400, seed = 1, out = 'out' }: TablesOptions = {}) => {
  mkdirSync(out, { recursive: true })
  const cars = join(out, 'cars.arrow')
  writeFileSync(cars, tableToIPC(arrowTable(), 'file'))
  const columns = fromArrow(readFileSync(cars))
  const { model, ...rows } = fromCsv()
  const [data, same] = [batches(columns, { size: 8, seed }), batches(rows, { size: 8, seed })]
  log(`${data.rows} cars in ${data.steps} batches; the first of the CSV file: ${JSON.stringify(same.at(0, 0).x.toArray()[0])}`)

  const run = await fit(line, data, {
    loss: 'mseLoss',
    optimizer: adam({ learningRate: cosineDecaySchedule({ initValue: 0.3, decaySteps: epochs * data.steps }) }),
    epochs,
  })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params, history } = run.right
  const found = { constant: params.constant.item(), wt: params.wt.item(), hp: params.hp.item(), manual: params.manual.item() }
  log(
    `a car of 3,000 pounds and 150 horsepower: ${found.constant.toFixed(2)} miles per gallon; ${found.wt.toFixed(2)} for 1,000 pounds more, ${found.hp.toFixed(2)} for 100 horsepower more, +${found.manual.toFixed(2)} if manual`,
  )
  const said = evaluate(line.apply(params, { wt: tensor(columns.x.wt), hp: tensor(columns.x.hp), manual: tensor(columns.x.manual) }))
  const worst = said.data.reduce((k, v, i) => (Math.abs(v - columns.y[i]!) > Math.abs(said.data[k]! - columns.y[k]!) ? i : k), 0)
  log(`furthest from the line: ${model[worst]}, ${columns.y[worst]!.toFixed(1)} and not ${said.data[worst]!.toFixed(1)}`)
  expectThat(epochs < 400 || Math.abs(found.wt + 2.879) < 0.1, 'the line of least squares')
  const file = await plot(out, 'tables', {
    title: 'Petrol of 32 cars',
    x: 'miles per gallon, by the line',
    y: 'measured',
    points: Object.fromEntries(
      gearboxes.map((name, k) => [name, [...said.data].flatMap((v, i) => (columns.x.manual[i] === k ? [[v, columns.y[i]!]] : []))]),
    ),
    lines: { 'as measured': [[8, 8], [32, 32]] }, // biome-ignore format: two ends
  })
  log(`picture: ${file}`)
  return { found, losses: history.loss, data, same, model, worst: model[worst]!, file }
}
start(import.meta.url, main)
