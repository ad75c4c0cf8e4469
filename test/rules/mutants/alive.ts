/**
 * Mistakes that nothing finds yet, by name: blind spots of the checker, not mistakes that change nothing. The first moves a result as moving x by one unit in its last place
 * does, which passes for rounding. The second shares a cotangent between two numbers that are 1e-8 apart: half of it each is what a central difference gives whose step crosses both.
 */
export const alive: readonly string[] = ['functions: 1 - x^2 cancels', 'scatter-reduce: what is near the extreme shares']
