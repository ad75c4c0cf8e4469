/** The WebGPU backend in Node, loaded when it is first asked for: it is a sixth of codual. */
import { createRequire } from 'node:module'
import type * as backend from '../backends/webgpu/index.js'

export const webgpu: typeof backend.webgpu = (options) => (createRequire(import.meta.url)('./webgpu.js') as typeof backend).webgpu(options)
