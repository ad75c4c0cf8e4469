/** Functions of numbers: all of them, for modules of core and rules. */
export * from './transcendental.js'
export * from './unary.js'
