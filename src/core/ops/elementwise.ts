/** The elementwise family: functions of one number, arithmetic, choices. */
export * from './arithmetic.js'
export * from './functions.js'
export * from './rounding.js'
