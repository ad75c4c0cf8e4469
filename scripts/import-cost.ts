/** What an import costs in Node: CPU time of a process that does nothing else, against jax-js's, in turns. */
import { spawnSync } from 'node:child_process'

const script = (folder: string, name: string): number => {
  const code = `await import(${JSON.stringify(name)}); const { user, system } = process.cpuUsage(); console.log(user + system)`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`import of ${name}: ${stderr}`)
  return Number(stdout) / 1000
}

/** Of codual as installed in a folder, of jax-js as installed in another: the least of each, which other work on the machine changes least. */
export const importCost = (user: string, root: string, runs = 21): { readonly ratio: number; readonly text: string } => {
  const [codual, jax] = [[] as number[], [] as number[]]
  for (let i = 0; i < runs; i++) {
    codual.push(script(user, 'codual'))
    jax.push(script(root, '@jax-js/jax'))
  }
  const [a, b] = [Math.min(...codual), Math.min(...jax)]
  return { ratio: a / b, text: `codual ${a.toFixed(0)} ms of CPU time, jax-js ${b.toFixed(0)} ms: ${(a / b).toFixed(2)} times` }
}
