/** Arithmetic that drivers rewrite, on lavapipe. */
import { algebraSuite } from './algebra.js'

algebraSuite('lavapipe')
