// Values from outside, small and flat enough for every walk that follows.

interface Bounds {
  readonly depthMax: number;
  readonly valuesMax: number;
}

/** Whether a JSON value keeps within the bounds; it is never walked beyond them. */
export function isBounded(value: unknown, { depthMax, valuesMax }: Bounds): boolean {
  let left = valuesMax;
  const fits = (part: unknown, depth: number): boolean => {
    left--;
    if (left < 0 || depth > depthMax) return false;
    if (typeof part !== 'object' || part === null) return true;
    return Object.values(part).every((item: unknown) => fits(item, depth + 1));
  };
  return fits(value, 0);
}
