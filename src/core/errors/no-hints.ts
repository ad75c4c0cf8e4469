/** What stands in the place of hints.ts in a bundle for users: errors say what is wrong, in a sentence or two less. Which one a bundle has is decided in package.json, `imports`. */
import type * as hints from './hints.js'

export const needless: typeof hints.needless = () => undefined
export const meantOption: typeof hints.meantOption = () => undefined
export const calledAs: typeof hints.calledAs = (where) => `${where}(f)(x)`
export const callOf: typeof hints.callOf = () => undefined
export const meantBy: typeof hints.meantBy = (_given, _isArray, names) => `options: { ${names.join(', ')} }.`
export const meantList: typeof hints.meantList = () => undefined
export const meantDtype: typeof hints.meantDtype = () => "give one of 'f64', 'f32', 'i32', 'bool'."
export const meantItems: typeof hints.meantItems = () => undefined
export const meantArray: typeof hints.meantArray = () => 'pass an expression, a tensor, a number or a nested array of numbers.'
export const membersOfOthers: typeof hints.membersOfOthers = () => []
