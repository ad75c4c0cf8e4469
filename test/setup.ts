// Every plan that a test makes is held against its program, where it is small; larger ones where a test asks for it.
import { verifyAll } from '../src/backends/plan/verify.js'

verifyAll(200_000)
