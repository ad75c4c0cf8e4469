/** A kernel with a typo, checked in a process of its own: all that it prints is the finding. */
import { makeWebGpu } from '../../../src/backends/webgpu/index.js'
import { checkPluginAsync } from '../../../src/check/index.js'
import * as cd from '../../../src/index.js'
import { findLane, useLane } from './adapter.js'

const main = async (): Promise<void> => {
  useLane(findLane('lavapipe')!)
  const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'test' })
  const doubling = cd.definePlugin({
    name: 'doubling',
    ops: { twice },
    rules: { twice: cd.scalarRule(twice, () => [2]) },
    kernels: { webgpu: { twice: cd.inline(({ x }) => `doubled(${x[0]})`) } },
  } as never)
  const backend = makeWebGpu({ dawn: ['backend=vulkan'], kernels: doubling.kernels.webgpu as never })
  const c = await checkPluginAsync(doubling, { backends: [backend] })
  process.stdout.write(JSON.stringify(c._tag === 'Left' ? c.left.map((f) => f.actual) : []))
  backend.dispose()
}
await main()
