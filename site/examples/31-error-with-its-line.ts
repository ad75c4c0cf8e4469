// What types cannot see is an error with its line: here the logarithm of a negative number is trapped.
import { type AnyExpr, compile, cpu, log, sum } from 'codual'

const f = compile((x: AnyExpr) => sum(log(x)), cpu(), { trap: 'nan' })
f([1, 2]) // 0.693147
f([1, -2])
