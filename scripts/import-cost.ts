/** What an import costs in Node: CPU time of a process that does nothing else, against jax-js's, in turns. */
import { spawnSync } from 'node:child_process'

const script = (folder: string, name: string): number => {
  const code = `await import(${JSON.stringify(name)}); const { user, system } = process.cpuUsage(); console.log(user + system)`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`import of ${name}: ${stderr}`)
  return Number(stdout) / 1000
}

/** CPU times of imports in milliseconds, in the order in which they ran. */
interface Times {
  readonly codual: number[]
  readonly jax: number[]
}
/**
 * Of codual as installed in a folder, of jax-js as installed in another: the least of each, which other work on the machine changes least. `before` has times of the same two, to which these are added:
 * a machine that was busy for one of them for a while has then had more turns for both.
 */
export const importCost = (
  user: string,
  root: string,
  before: Times = { codual: [], jax: [] },
  runs = 21,
): { readonly ratio: number; readonly text: string; readonly times: Times } => {
  const times = { codual: [...before.codual], jax: [...before.jax] }
  const turns = [() => times.codual.push(script(user, 'codual')), () => times.jax.push(script(root, '@jax-js/jax'))]
  // Each goes first every other time.
  for (let i = 0; i < runs; i++) for (const turn of i % 2 === 0 ? turns : [...turns].reverse()) turn()
  const [a, b] = [Math.min(...times.codual), Math.min(...times.jax)]
  const text = `codual ${a.toFixed(0)} ms of CPU time, jax-js ${b.toFixed(0)} ms, the least of ${times.codual.length}: ${(a / b).toFixed(2)} times`
  return { ratio: a / b, text, times }
}
