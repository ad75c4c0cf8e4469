// A curve through measurements, with standard errors and a band. `npm run example:thurber`
//
// Thurber's study of the mobility of electrons, one of the harder problems of nonlinear regression of the Statistical Reference Datasets of NIST: a quotient of cubic polynomials with seven parameters,
// whose values and standard deviations are certified to eleven digits. `curveFit` needs the model alone. The covariance of the parameters, and the derivative of the curve by them, give its band.
import { add, at, compile, cpu, div, type Expr, type Float, jacfwd, mul, tensor } from '../src/index.js'
import { curveFit } from '../src/minimize/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

/** The logarithm of the density of electrons, and their mobility. */
const data = [
  [-3.067, 80.574], [-2.981, 84.248], [-2.921, 87.264], [-2.912, 87.195], [-2.84, 89.076], [-2.797, 89.608], [-2.702, 89.868],
  [-2.699, 90.101], [-2.633, 92.405], [-2.481, 95.854], [-2.363, 100.696], [-2.322, 101.06], [-1.501, 401.672], [-1.46, 390.724],
  [-1.274, 567.534], [-1.212, 635.316], [-1.1, 733.054], [-1.046, 759.087], [-0.915, 894.206], [-0.714, 990.785], [-0.566, 1090.109],
  [-0.545, 1080.914], [-0.4, 1122.643], [-0.309, 1178.351], [-0.109, 1260.531], [-0.103, 1273.514], [0.01, 1288.339],
  [0.119, 1327.543], [0.377, 1353.863], [0.79, 1414.509], [0.963, 1425.208], [1.006, 1421.384], [1.115, 1442.962],
  [1.572, 1464.35], [1.841, 1468.705], [2.047, 1447.894], [2.2, 1457.628],
] as const // biome-ignore format: a table
/** What is certified: each parameter, and its standard deviation. */
export const certified = [
  [1288.1396800, 4.6647963344], [1491.0792535, 39.571156086], [583.23836877, 28.698696102], [75.416644291, 5.5675370270],
  [0.96629502864, 0.031333340687], [0.39797285797, 0.014984928198], [0.049727297349, 0.0065842344623],
] as const // biome-ignore format: a table

type Numbers = Expr<[number], 'f64'>
/** (b1 + b2 x + b3 x^2 + b4 x^3) / (1 + b5 x + b6 x^2 + b7 x^3) */
export const mobility = (b: Expr<[number], 'f64'>, x: Numbers | Expr<[], Float>) => {
  const cubic = (c0: Expr<[], Float> | number, c1: number): Expr<[number], 'f64'> =>
    add(c0, mul(x, add(at(b, c1), mul(x, add(at(b, c1 + 1), mul(x, at(b, c1 + 2))))))) as Expr<[number], 'f64'>
  return div(cubic(at(b, 0), 1), cubic(1, 4))
}

export const main = async (log: Log, { out = 'out' }: { readonly out?: string } = {}) => {
  const [x, y] = [data.map(([a]) => a), data.map(([, b]) => b)]
  const fit = curveFit(mobility, tensor(x, [x.length]), tensor(y, [y.length]), tensor([1000, 1000, 400, 40, 0.7, 0.3, 0.03], [7]))
  expectThat(fit.converged, 'a fit that has converged')
  const [values, errors] = [[...fit.params.data], [...fit.errors.data]]
  log('        found            certified        standard deviation  certified')
  for (const [k, [value, sd]] of certified.entries())
    log(
      `b${k + 1}  ${values[k]!.toPrecision(11).padEnd(16)}${value.toPrecision(11).padEnd(17)}${errors[k]!.toPrecision(8).padEnd(20)}${sd.toPrecision(8)}`,
    )
  const digits = certified.map(([value], k) => -Math.log10(Math.abs(values[k]! / value - 1)))
  expectThat(Math.min(...digits) > 6, 'six digits of what is certified')

  // The variance of the curve at a place: the derivative by the parameters, times their covariance, times the derivative.
  const places = Array.from({ length: 200 }, (_, k) => -3.1 + (5.4 * k) / 199)
  const at200 = tensor(places, [200])
  const curve = compile(mobility, cpu())(fit.params, at200).data
  const slopes = compile(jacfwd((b: Expr<[number], 'f64'>) => mobility(b, at200)) as never, cpu()) as unknown as (b: unknown) => {
    readonly data: ArrayLike<number>
  }
  const jacobian = slopes(fit.params).data
  const covariance = fit.covariance.data
  const band = places.map((_, i) => {
    let variance = 0
    for (let j = 0; j < 7; j++) for (let k = 0; k < 7; k++) variance += jacobian[7 * i + j]! * covariance[7 * j + k]! * jacobian[7 * i + k]!
    return 1.96 * Math.sqrt(variance)
  })
  const file = await plot(out, 'thurber', {
    title: 'Mobility of electrons: measurements, the fit, and where the curve is with 95 %',
    x: 'logarithm of the density',
    y: 'mobility',
    points: { measured: data },
    lines: { fit: places.map((p, i) => [p, curve[i]!]) },
    bands: { '95 %': places.map((p, i) => [p, curve[i]! - band[i]!, curve[i]! + band[i]!]) },
  })
  log(`picture: ${file}`)
  return { values, errors, digits, band, file }
}

start(import.meta.url, main)
