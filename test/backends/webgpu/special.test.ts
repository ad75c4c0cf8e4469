/** The special functions on lavapipe. */
import { specialSuite } from './special-suite.js'

specialSuite('lavapipe')
