/** Primitives of which some partial derivatives are NotImplemented, with the arguments by which there is one. */
export const partly: Readonly<Record<string, readonly number[]>> = {
  gammaincGradA: [1],
  betaincGradA: [2],
  betaincGradB: [2],
  zetaGradS: [1],
}
/** Primitives whose partial derivatives are such: with the arguments by which there are derivatives of every order. */
const once: Readonly<Record<string, readonly number[]>> = { gammainc: [1], gammaincc: [1], betainc: [2], zeta: [1] }
/** Is there a derivative of this primitive by this argument, of this order? */
export const implemented = (name: string, argument: number, order = 1): boolean =>
  (partly[name] ?? (order > 1 ? once[name] : undefined))?.includes(argument) ?? true
