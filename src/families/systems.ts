/** Systems of equations and determinants. Each operation brings its pack. */
import '../packs/systems.js'

export { lu } from '../core/ops/linalg.js'
export * from '../core/ops/linalg-systems.js'
