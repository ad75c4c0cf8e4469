/** The order in which the operands of a contraction are contracted, two at a time, so that few numbers are multiplied and added. */
import { range } from '../../core/graph/shape.js'

/** The labels of each operand, and how long the axes of a label are. */
export interface Contraction {
  readonly labels: readonly (readonly string[])[]
  readonly sizes: ReadonlyMap<string, number>
  readonly output: readonly string[]
}
type Pair = readonly [number, number]
/** Positions of each pair in the list of what is left, which loses both and gets their product at its end; and what all of it costs. */
export interface Path {
  readonly path: readonly Pair[]
  /** Multiplications and additions of all pairs. */
  readonly flops: number
  /** Elements of the largest product. */
  readonly largest: number
}

/** Up to so many operands every order is compared; beyond, the pair is taken that shortens the operands most. */
const ALL_ORDERS = 8

type Labels = readonly string[]
/** Those at i and j, which lies behind it, out of a list. */
export const taken = <T>(list: T[], i: number, j: number): readonly [T, T] => {
  const [[b], [a]] = [list.splice(j, 1), list.splice(i, 1)] as [[T], [T]]
  return [a, b]
}
const sizeOf = (labels: Iterable<string>, sizes: ReadonlyMap<string, number>): number => {
  let n = 1
  for (const l of labels) n *= sizes.get(l)!
  return n
}
/** What two terms make, given the labels that something else still needs, and its cost: twice the products where they are added up. */
const joined = (a: Labels, b: Labels, needed: (l: string) => boolean, sizes: ReadonlyMap<string, number>) => {
  const all = [...new Set([...a, ...b])]
  const labels = all.filter(needed)
  return { labels, flops: sizeOf(all, sizes) * (labels.length < all.length ? 2 : 1), size: sizeOf(labels, sizes) }
}

/** A path as it is carried out: its cost by the pairs. */
const priced = ({ labels, sizes, output }: Contraction, path: readonly Pair[]): Path => {
  const terms: Labels[] = [...labels]
  let [flops, largest] = [0, 0]
  for (const [i, j] of path) {
    const [a, b] = taken(terms, i, j)
    const y = joined(a, b, (l) => output.includes(l) || terms.some((t) => t.includes(l)), sizes)
    terms.push(y.labels)
    flops += y.flops
    largest = Math.max(largest, y.size)
  }
  return { path, flops, largest }
}

/** Pairs by the numbers of their terms, where each product has the next number: as positions in the list of what is left. */
const positions = (count: number, pairs: readonly Pair[]): readonly Pair[] => {
  const left = range(count)
  return pairs.map(([a, b], k) => {
    const [i, j] = [left.indexOf(a), left.indexOf(b)].sort((x, y) => x - y) as [number, number]
    taken(left, i, j)
    left.push(count + k)
    return [i, j] as const
  })
}

/** The cheapest of all orders, by the cheapest of all subsets (each is a set of bits). */
const optimal = ({ labels, sizes, output }: Contraction): readonly Pair[] => {
  const n = labels.length
  const full = 2 ** n - 1
  const users = (l: string): number =>
    labels.reduce((bits, own, i) => (own.includes(l) ? bits | (1 << i) : bits), output.includes(l) ? 1 << n : 0)
  const usersOf = new Map([...sizes.keys()].map((l) => [l, users(l)]))
  interface Best {
    readonly flops: number
    readonly labels: Labels
    readonly parts: Pair | undefined
  }
  const best = new Map<number, Best>(labels.map((own, i) => [1 << i, { flops: 0, labels: own, parts: undefined }]))
  for (let set = 3; set <= full; set++) {
    if (best.has(set)) continue
    const needed = (l: string): boolean => (usersOf.get(l)! & ~set) !== 0
    let found: Best | undefined
    // Each split once: the part with the first operand, the larger ones first, as from the left.
    const low = set & -set
    for (let a = (set - 1) & set; a > 0; a = (a - 1) & set) {
      if ((a & low) === 0) continue
      const [x, y] = [best.get(a)!, best.get(set ^ a)!]
      const sum = x.flops + y.flops
      if (found !== undefined && sum >= found.flops) continue
      const z = joined(x.labels, y.labels, needed, sizes)
      if (found === undefined || sum + z.flops < found.flops) found = { flops: sum + z.flops, labels: z.labels, parts: [a, set ^ a] }
    }
    best.set(set, found!)
  }
  const pairs: Pair[] = []
  const order = (set: number): number => {
    const { parts } = best.get(set)!
    if (parts === undefined) return Math.log2(set)
    const pair = [order(parts[0]), order(parts[1])] as const
    pairs.push(pair)
    return n + pairs.length - 1
  }
  order(full)
  return positions(n, pairs)
}

/** The pair whose product is smallest against both, again and again; of pairs that share a label first. */
const greedy = ({ labels, sizes, output }: Contraction): readonly Pair[] => {
  const terms: Labels[] = [...labels]
  const path: Pair[] = []
  while (terms.length > 1) {
    const uses = new Map<string, number>()
    for (const l of [...terms.flat(), ...output]) uses.set(l, (uses.get(l) ?? 0) + 1)
    let best: { readonly pair: Pair; readonly apart: boolean; readonly cost: number; readonly labels: Labels } | undefined
    for (let i = 0; i < terms.length; i++)
      for (let j = i + 1; j < terms.length; j++) {
        const [a, b] = [terms[i]!, terms[j]!]
        const apart = !a.some((l) => b.includes(l))
        if (apart && best !== undefined && !best.apart) continue
        const y = joined(a, b, (l) => uses.get(l)! > (a.includes(l) ? 1 : 0) + (b.includes(l) ? 1 : 0), sizes)
        const cost = apart ? sizeOf(a, sizes) * sizeOf(b, sizes) : y.size - sizeOf(a, sizes) - sizeOf(b, sizes)
        if (best === undefined || (best.apart && !apart) || cost < best.cost) best = { pair: [i, j], apart, cost, labels: y.labels }
      }
    const [i, j] = best!.pair
    taken(terms, i, j)
    terms.push(best!.labels)
    path.push([i, j])
  }
  return path
}

/** The path that a contraction takes: from the left where no other is cheaper. */
export const pathOf = (c: Contraction): Path => {
  const n = c.labels.length
  if (n < 2) return { path: [], flops: 0, largest: 0 }
  const inOrder = priced(
    c,
    range(n - 1).map((k) => (k === 0 ? ([0, 1] as const) : ([0, n - k - 1] as const))),
  )
  if (n === 2) return inOrder
  const found = priced(c, n <= ALL_ORDERS ? optimal(c) : greedy(c))
  return inOrder.flops <= found.flops ? inOrder : found
}
