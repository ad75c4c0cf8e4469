/**
 * Substitutions of nucleotides as a Markov chain in continuous time: the general time reversible model, its transition probabilities by
 * the exponential of its rates, and the rates fitted to aligned pairs of sequences. Felsenstein 2004, chapters 11 and 13.
 */
import {
  add,
  addAt,
  compile,
  diag,
  div,
  type Expr,
  exp,
  expandDims,
  expm,
  f64,
  fn,
  log,
  mul,
  neg,
  scan,
  softmax,
  sub,
  sum,
  type Tensors,
  tensor,
  transpose,
  triuIndices,
  vdot,
  zeros,
} from '../../src/index.js'
import { lbfgs } from '../../src/optim/index.js'

/** The logarithms of the six exchangeabilities AC, AG, AT, CG, CT, GT, and of the frequencies of A, C, G, T up to a sum. */
export const declared = { exchange: f64(6), composition: f64(4) }

/** Rates Q_ij = e_ij pi_j, e symmetric, whose rows sum to 0 and whose mean rate is 1; and the frequencies pi, which Q keeps. */
export const model = fn(declared, ({ exchange, composition }) => {
  const frequencies = softmax(composition)
  const { rows, columns } = triuIndices(4, 1)
  const upper: Expr<[4, 4], 'f64'> = addAt(zeros([4, 4], 'f64'), [rows, columns], exp(exchange))
  const rates = mul(add(upper, transpose(upper)), frequencies)
  const leaving = sum(rates, { axis: 1 })
  return { rates: div(sub(rates, diag(leaving)), vdot(frequencies, leaving)), frequencies }
})

/** The probabilities of every pair of letters, before and behind a time t: pi_i exp(Q t)_ij. */
export const pairs = fn({ params: declared, t: f64() }, ({ params, t }) => {
  const { rates, frequencies } = model(params)
  return mul(expandDims(frequencies, 1), expm(mul(rates, t)))
})

/** -log of the likelihood of counted pairs, counts[k] at the time times[k], for each pair. */
export const loss = fn({ params: declared, times: f64('k'), counts: f64('k', 4, 4) }, ({ params, times, counts }) => {
  const [total] = scan((s: Expr<[], 'f64'>, { t, c }) => [add(s, sum(mul(c, log(pairs({ params, t }))))), null], zeros([], 'f64'), {
    t: times,
    c: counts,
  })
  return neg(div(total, sum(counts)))
})

/** The rates and frequencies of greatest likelihood. */
export const fit = (times: number[], counts: number[][][], iterations: number): Tensors<typeof declared> => {
  const method = lbfgs()
  const step = compile(
    fn({ params: declared, state: method.init(declared), times: f64('k'), counts: f64('k', 4, 4) }, ({ params, state, times, counts }) =>
      method.step((params) => loss({ params, times, counts }), params, state),
    ),
  )
  let params: Tensors<typeof declared> = { exchange: tensor([0, 0, 0, 0, 0, 0]), composition: tensor([0, 0, 0, 0]) }
  let state = method.init(params)
  for (let i = 0; i < iterations; i++) ({ params, state } = step({ params, state, times, counts }))
  return params
}
