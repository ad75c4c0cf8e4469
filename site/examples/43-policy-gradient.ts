// A policy gradient (REINFORCE) learns which of three machines pays best, from its own draws.
import { add, compile, evaluate, f64, fn, grad, i32, logSoftmax, mean, mul, neg, softmax, sub, take, tensor } from 'codual'
import { adam, applyUpdates } from 'codual/optim'
import { categorical, key, normal } from 'codual/random'
import { plot } from 'playground'

const pays = tensor([1, 2, 1.5])
const declared = { logits: f64(3), drawn: i32('n'), reward: f64('n') }
// The mean of log p(drawn) times its advantage has the gradient of the expected reward.
const gain = fn(declared, ({ logits, drawn, reward }) => mean(mul(take(logSoftmax(logits), drawn), sub(reward, mean(reward)))))
const optimiser = adam({ learningRate: 0.1 })
const step = compile(
  fn({ ...declared, state: optimiser.init(declared.logits) }, ({ state, ...given }) => {
    const { updates, state: next } = optimiser.update(neg(grad(gain, { wrt: 'logits' })(given)), state, given.logits)
    return { logits: applyUpdates(given.logits, updates), state: next }
  }),
)
let now = { logits: tensor([0, 0, 0]), state: optimiser.init(tensor([0, 0, 0])) }
const chances: number[][] = []
for (let i = 0; i < 100; i++) {
  const drawn = evaluate(categorical(key(i), now.logits, { shape: [32] }))
  const reward = evaluate(add(take(pays, drawn), normal(key(1000 + i), [32])))
  now = step({ ...now, drawn, reward })
  chances.push(evaluate(softmax(now.logits)).toArray())
}
plot(
  chances.map((_, i) => i),
  Object.fromEntries([0, 1, 2].map((k) => [`machine ${k}`, chances.map((p) => p[k]!)])),
  { title: 'how often each is chosen' },
)
chances.at(-1)![1]! > 0.9 // true
