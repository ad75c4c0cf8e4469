// The first minute of a user: installs the packed package in an empty project with the line of the README, and runs the README's programs. `npm run build` comes before.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runReadme } from './readme.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const user = mkdtempSync(join(tmpdir(), 'codual-smoke-'))
try {
  const npm = (cwd: string, ...args: readonly string[]): void => {
    execFileSync('npm', ['--loglevel=error', ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', user)
  const tarball = readdirSync(user).find((name) => name.endsWith('.tgz'))!
  const line = /^npm install (codual(?: [\w-]+)*)/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  if (line === undefined) throw new Error('README.md does not say how to install')
  writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }')
  npm(
    user,
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    ...line.split(' ').map((name) => (name === 'codual' ? `./${tarball}` : name)),
  )
  const { programs, values } = runReadme(user)
  console.log(`${tarball}: ${programs} programs of the README ran, ${values} values are what it says`)
} finally {
  rmSync(user, { recursive: true, force: true })
}
