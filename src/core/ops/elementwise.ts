/** The elementwise family: functions of one number, arithmetic, choices, compositions. */
export * from './activations.js'
export * from './arithmetic.js'
export * from './functions.js'
export * from './rounding.js'
