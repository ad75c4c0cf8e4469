// The worker of the page: it runs what the page trains on the CPU, which stays free meanwhile.
import { serve } from 'codual/worker'

serve()
