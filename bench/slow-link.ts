// CODUAL_BENCH_LINK=ethernet10 (or seconds,bytes a second): what MPI is done with counts as done when such a link would have carried it.
import { Exchange, type Request } from '../src/mpi/native/exchange.js'
import { links } from '../src/mpi/scale/link.js'

/** Requests are done when a link would have carried them, too: this rank's bytes one after the other. */
const slowed = ({ latency, bandwidth }: { readonly latency: number; readonly bandwidth: number }): void => {
  const own = Exchange.prototype
  const arrival = new WeakMap<Request, number>()
  let free = 0
  const carried = (request: Request, bytes: number): Request => {
    free = Math.max(free, performance.now()) + 1000 * (latency + bytes / bandwidth)
    arrival.set(request, free)
    return request
  }
  const others = (counts: Int32Array, rank: number): number => counts.reduce((n, c, r) => (r === rank ? n : n + c), 0)
  const { gather, gatherParts, exchange, done } = own
  own.gather = function (from, ...more) {
    return carried(gather.call(this, from, ...more), from.byteLength * (this.size - 1))
  }
  own.gatherParts = function (mine, ...more) {
    return carried(gatherParts.call(this, mine, ...more), mine.byteLength * (this.size - 1))
  }
  own.exchange = function (from, sent, ...more) {
    return carried(exchange.call(this, from, sent, ...more), others(sent, this.rank))
  }
  // What the processor has to do for it is done meanwhile.
  const over = new WeakSet<Request>()
  own.done = function (request) {
    const due = arrival.get(request)
    if (due === undefined) return done.call(this, request)
    if (!over.has(request)) {
      if (!done.call(this, request)) return false
      over.add(request)
    }
    if (performance.now() < due) return false
    arrival.delete(request)
    over.delete(request)
    return true
  }
}
/** The link's name, where there is one. It works in each thread that loads this. */
export const given = process.env.CODUAL_BENCH_LINK
if (given !== undefined) {
  const [latency, bandwidth] = given.split(',').map(Number)
  slowed(given in links ? links[given as keyof typeof links] : { latency: latency!, bandwidth: bandwidth! })
}
