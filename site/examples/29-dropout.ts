// Dropout takes a key: the same key drops the same entries.
import { all, type Expr, eq, evaluate, mul, ones, where } from 'codual'
import { bernoulli, key } from 'codual/random'

const drop = (k: Expr<[2], 'i32'>) => where(bernoulli(k, 0.5, { shape: [8] }), mul(ones([8]), 2), 0)
evaluate(drop(key(1)))
evaluate(all(eq(drop(key(1)), drop(key(1))))) // true
evaluate(all(eq(drop(key(1)), drop(key(2))))) // false
