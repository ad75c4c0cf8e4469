/** Functions of numbers: all of them, for modules of core and rules. */
export * from './exponentials.js'
export * from './gamma.js'
export * from './trigonometric.js'
export * from './unary.js'
