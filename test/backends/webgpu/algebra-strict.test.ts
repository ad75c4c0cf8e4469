/** Arithmetic that drivers rewrite, on SwiftShader. */
import { algebraSuite } from './algebra.js'

algebraSuite('swiftshader')
