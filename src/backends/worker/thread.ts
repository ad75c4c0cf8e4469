/** The worker that `worker()` starts in Node where it is given none. */
import { serve } from './serve.js'

serve()
