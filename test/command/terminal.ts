// The prompt as in a terminal, on whatever standard input and output are: `node --import tsx test/command/terminal.ts [file]`.
import { repl } from '../../command/repl/index.js'

process.exitCode = await repl(process.argv[2], { input: process.stdin, output: process.stdout, terminal: true })
