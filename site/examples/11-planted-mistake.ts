// A primitive of one's own with a wrong derivative, and the checker, which says what it should be.
import { mul, scalarRule, unary } from 'codual'
import { checkRule, report } from 'codual/check'

const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, domain: [[-2, 2]], source: 'definition' })
const wrong = scalarRule(cube, ({ x: [x] }) => [mul(2, mul(x, x))])
const right = scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))])

report(checkRule(wrong))
checkRule(wrong)._tag // "Left"
checkRule(right)._tag // "Right"
