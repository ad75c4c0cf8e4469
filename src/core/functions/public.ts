/** What users see of backends and runs. */
export type {
  AsyncBackend,
  AsyncExecutable,
  Backend,
  DeviceArray,
  DeviceWork,
  Elements,
  Executable,
  ExplainedLoop,
  ExplainedStep,
  Explanation,
  PlaceOptions,
  SyncBackend,
} from './backend.js'
export { onDevice, onHost } from './device-tensor.js'
export type { Env, RunEvent } from './effects.js'
