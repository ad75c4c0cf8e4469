/** Distributions as values, maps between their supports, divergences and inference. Written with the public interface of codual alone. */
export * from './inference/index.js'
