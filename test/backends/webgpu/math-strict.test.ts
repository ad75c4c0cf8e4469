/** The scalar functions on SwiftShader, the driver with the loosest arithmetic: it flushes subnormal numbers. */
import { mathSuite } from './math-suite.js'

mathSuite('swiftshader')
