import { rightFunctions } from './right-functions.js'
import { checkGrad, report } from '../../src/check/index.js'
let bad = 0
const t0 = performance.now()
let over = 0
for (const { name, f, args, options } of rightFunctions) {
  const t = performance.now()
  const c = checkGrad(f, options)(...args)
  const ms = performance.now() - t
  if (c._tag === 'Left') { bad++; console.log('####', name, ms.toFixed(0)); console.log(report(c)) }
  else { over += c.right.looked.passedOver.length; if (process.env.SHOW) console.log(name, ms.toFixed(0), c.right.looked.passedOver.join('; '), '|', c.right.looked.leftOut.join(';')) }
}
console.log(rightFunctions.length, bad, over, ((performance.now() - t0) / 1000).toFixed(1))
