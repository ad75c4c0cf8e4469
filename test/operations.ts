// Every operation and every function of the library, as they are exported.
export * from '../src/core/ops/index.js'
export * from '../src/library/index.js'
