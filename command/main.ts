#!/usr/bin/env node
/** The command `codual`. */
import { pathToFileURL } from 'node:url'
import { run } from './command.js'
import { FINE } from './failure.js'
import { otherCommand } from './project.js'

const other = otherCommand(process.cwd())
if (other !== undefined) await import(pathToFileURL(other).href)
else {
  const code = await run(process.argv.slice(2), { out: process.stdout, err: process.stderr })
  if (code !== FINE) process.exitCode = code
}
