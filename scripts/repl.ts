// A Node REPL with everything of codual in its context: `npm run repl`, or `echo 'evaluate(add(1, 2))' | npm run repl`.
import { homedir } from 'node:os'
import { join } from 'node:path'
import repl from 'node:repl'
import manifest from '../package.json' with { type: 'json' }
import * as codual from '../src/index.js'
import { installPrinters, printed } from './repl-print.js'

installPrinters()

const names = Object.keys(codual).sort()
console.log(`codual ${manifest.version}: ${names.length} names are in scope, \`codual\` holds them all; .names lists them, .exit leaves.`)
console.log('Try  grad((x) => sum(mul(x, x)))([1, 2, 3])')

const style = { depth: 6, maxArrayLength: 100, breakLength: 120 }

// One realm (useGlobal), so that an array or a Float32Array typed here is what the library's `instanceof` expects.
const server = repl.start({
  prompt: 'codual> ',
  useGlobal: true,
  writer: Object.assign((value: unknown) => printed(value, { ...style, colors: server.terminal }), { options: style }),
})

const define = (name: string, value: unknown): void => {
  Object.defineProperty(server.context, name, { value, configurable: true, writable: true, enumerable: true })
}
define('codual', codual)
for (const [name, value] of Object.entries(codual)) define(name, value)

server.defineCommand('names', {
  help: 'List the names of codual',
  action() {
    this.output.write(`${names.join(' ')}\n`)
    this.displayPrompt()
  },
})

// As with node's own REPL, an empty NODE_REPL_HISTORY keeps no history.
const history = process.env.NODE_REPL_HISTORY ?? join(homedir(), '.codual_repl_history')
if (server.terminal && history !== '') {
  server.setupHistory(history, (error) => {
    if (error) console.error(`The history ${history} cannot be used: ${error.message}`)
  })
}
