// How often a property is tried. What takes seconds is tried less often with every change, and as often
// as it deserves when somebody asks for it: `TEST_RUNS=full npx vitest run packages/core`.

const isFull = process.env['TEST_RUNS'] === 'full';

/** The settings of a property that is worth so many tries, and costs too much for them. */
export function runs(full: number): { readonly numRuns: number } {
  return { numRuns: isFull ? full : Math.ceil(full / 4) };
}
