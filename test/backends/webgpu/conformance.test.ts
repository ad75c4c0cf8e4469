/** Every primitive of the registry on lavapipe, at every sample of its declaration. */
import { conformance } from './conformance-suite.js'

conformance('lavapipe', 'every sample')
