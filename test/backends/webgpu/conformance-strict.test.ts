/** Every primitive of the registry on SwiftShader, the stricter driver: one small sample each. */
import { conformance } from './conformance-suite.js'

conformance('swiftshader', 'one small sample')
