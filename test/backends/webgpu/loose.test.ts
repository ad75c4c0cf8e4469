/** The functions on a driver whose quotients and roots are as far off as WGSL allows: the same bounds. */
import { loosened } from './loose.js'
import { mathSuite } from './math-suite.js'
import { specialSuite } from './special-suite.js'

mathSuite('lavapipe', 'a driver with loose quotients', loosened)
specialSuite('lavapipe', 'a driver with loose quotients', loosened)
