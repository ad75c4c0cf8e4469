/** Do the shipped primitives have the samples that the checker tries them at? Here they do; no-samples.ts stands in the place of this in a bundle for users. */
export const sampled = true
