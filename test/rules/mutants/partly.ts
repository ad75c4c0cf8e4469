/** Primitives of which some partial derivatives are NotImplemented, with the arguments by which there is one. */
export const partly: Readonly<Record<string, readonly number[]>> = { gammainc: [1], gammaincc: [1], betainc: [2], zeta: [1] }
/** Is there a derivative of this primitive by this argument? */
export const implemented = (name: string, argument: number): boolean => partly[name]?.includes(argument) ?? true
