/** The elementwise family: functions of one number, arithmetic, choices. */
export * from './arithmetic.js'
export * from './exponentials.js'
export * from './gamma.js'
export * from './rounding.js'
export * from './trigonometric.js'
export * from './unary.js'
