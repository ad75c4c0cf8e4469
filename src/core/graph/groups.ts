/** Groups of positions that grow and merge (union-find): elementwise regions of a program, loops of a plan. */

/**
 * Groups have levels: a group is on a higher level than every one that it reads, and only groups of one level merge. So levels grow along every
 * path, and no group depends on itself.
 */
export class Groups {
  private readonly groupOf: Int32Array
  private readonly parent: number[] = []
  private readonly levels: number[] = []

  /** For positions below `size`. */
  constructor(size: number) {
    this.groupOf = new Int32Array(size).fill(-1)
  }
  /** A new group at this level. */
  open(level: number): number {
    this.levels.push(level)
    return this.parent.push(this.parent.length) - 1
  }
  put(position: number, group: number): void {
    this.groupOf[position] = group
  }
  /** The group that a group is part of by now. */
  find(group: number): number {
    const { parent } = this
    let x = group
    while (parent[x] !== x) {
      parent[x] = parent[parent[x]!]!
      x = parent[x]!
    }
    return x
  }
  /** The group of a position; -1 where it is in none. */
  at(position: number): number {
    const g = this.groupOf[position]!
    return g < 0 || this.parent[g] === g ? g : this.find(g)
  }
  levelOf(group: number): number {
    return this.levels[group]!
  }
  merge(from: number, into: number): void {
    this.parent[from] = into
  }
  /** Those of the given groups that are on the highest of their levels; none where what is to join must be higher than that. */
  joinable(groups: readonly number[], level: number): readonly number[] {
    let top = -1
    for (const g of groups) top = Math.max(top, this.levels[g]!)
    return level > top ? [] : groups.length === 1 ? groups : groups.filter((g) => this.levels[g] === top)
  }
  /** The lowest level, not below `level`, on which something can be that reads these groups. */
  above(groups: readonly number[], level: number): number {
    let least = level
    for (const g of groups) least = Math.max(least, this.levels[g]! + 1)
    return least
  }
}
