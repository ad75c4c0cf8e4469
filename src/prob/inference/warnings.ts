/** What a run of chains has to be told about, as data, with what to do. */

/** Something in a run that may make its draws wrong. */
export interface Warning {
  /** Trajectories that diverged, trajectories that were cut at `maxDepth`, or energies that hardly change from draw to draw. */
  readonly kind: 'divergences' | 'maxDepth' | 'energy'
  /** How many draws, or chains for 'energy'. */
  readonly count: number
  readonly message: string
}

type Row = ArrayLike<number>
/** The energy's fraction of missing information (Betancourt 2016): the mean square of its changes over its variance. */
export const missingInformation = (energies: Row): number => {
  const n = energies.length
  let [sum, variance, changes] = [0, 0, 0]
  for (let i = 0; i < n; i++) sum += energies[i]!
  const mean = sum / n
  for (let i = 0; i < n; i++) variance += (energies[i]! - mean) ** 2
  for (let i = 1; i < n; i++) changes += (energies[i]! - energies[i - 1]!) ** 2
  return changes / variance
}
const LEAST_INFORMATION = 0.3

/** What chains said of their draws: a row for each chain. */
interface Said {
  readonly divergent: readonly Row[]
  readonly depth: readonly Row[]
  readonly energy: readonly Row[]
}
/** How many elements of some rows are so large, or larger. */
export const countFrom = (rows: readonly Row[], least: number): number => {
  let count = 0
  for (const row of rows) for (let i = 0; i < row.length; i++) if (row[i]! >= least) count++
  return count
}
export const warningsOf = ({ divergent, depth, energy }: Said, maxDepth: number): readonly Warning[] => {
  const all = divergent.reduce((s, row) => s + row.length, 0)
  const divergences = countFrom(divergent, 1)
  const deep = maxDepth === 0 ? 0 : countFrom(depth, maxDepth)
  const stuck = energy.filter((row) => row.length > 10 && missingInformation(row) < LEAST_INFORMATION).length
  return [
    ...(divergences === 0
      ? []
      : [
          {
            kind: 'divergences' as const,
            count: divergences,
            message: `${divergences} of ${all} draws ended in a divergence: the step size is too large for a part of the density, and draws may miss it. Write the model with non-centred parameters, or raise targetAcceptance (0.95, 0.99).`,
          },
        ]),
    ...(deep === 0
      ? []
      : [
          {
            kind: 'maxDepth' as const,
            count: deep,
            message: `${deep} of ${all} trajectories were cut at ${2 ** maxDepth - 1} steps: draws are right but mix slowly. Scale the parameters alike, use the mass 'dense', or raise maxDepth.`,
          },
        ]),
    ...(stuck === 0
      ? []
      : [
          {
            kind: 'energy' as const,
            count: stuck,
            message: `in ${stuck} of ${energy.length} chains the energy hardly changes from draw to draw (E-BFMI below ${LEAST_INFORMATION}): tails are explored slowly. Write the model with non-centred parameters, or with tails that are less heavy.`,
          },
        ]),
  ]
}
