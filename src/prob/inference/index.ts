/** Samplers and approximations of posteriors. */
export {}
