/** What a run of chains has to be told about, as data, with what to do. */

/** Something in a run that may make its draws wrong. */
export interface Warning {
  /** Trajectories that diverged, trajectories that were cut at `maxDepth`, or energies that hardly change from draw to draw. */
  readonly kind: 'divergences' | 'maxDepth' | 'energy'
  /** How many draws, or chains for 'energy'. */
  readonly count: number
  readonly message: string
}

/** The energy's fraction of missing information (Betancourt 2016): the mean square of its changes over its variance. */
export const missingInformation = (energies: Float64Array): number => {
  const mean = energies.reduce((s, e) => s + e, 0) / energies.length
  const variance = energies.reduce((s, e) => s + (e - mean) ** 2, 0)
  let changes = 0
  for (let i = 1; i < energies.length; i++) changes += (energies[i]! - energies[i - 1]!) ** 2
  return changes / variance
}
const LEAST_INFORMATION = 0.3

/** What chains said of their draws: a row for each chain. */
interface Said {
  readonly divergent: readonly Float64Array[]
  readonly depth: readonly Float64Array[]
  readonly energy: readonly Float64Array[]
}
const countOf = (rows: readonly Float64Array[], is: (x: number) => boolean): number =>
  rows.reduce((s, row) => s + row.reduce((k, x) => k + (is(x) ? 1 : 0), 0), 0)
export const warningsOf = ({ divergent, depth, energy }: Said, maxDepth: number): readonly Warning[] => {
  const all = countOf(divergent, () => true)
  const divergences = countOf(divergent, (x) => x === 1)
  const deep = maxDepth === 0 ? 0 : countOf(depth, (x) => x >= maxDepth)
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
