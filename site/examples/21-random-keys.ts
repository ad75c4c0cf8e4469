// A key is used once: the same key gives the same numbers, in every backend, as JAX does.
import { evaluate, unstack, vmap } from 'codual'
import { key, splitKey, uniform } from 'codual/random'

const [a] = unstack(splitKey(key(0)))
evaluate(uniform(a, [3])) // [0.96995, 0.31518, 0.6611]
evaluate(vmap((k) => uniform(k, [2]))(splitKey(key(0)))) // [[0.96995, 0.31518], [0.08062, 0.92395]]
