// Versions like 1.12.0 or 1.12.0-rc.1: which of two is older.

const VERSION = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** Whether a version comes before another; what is no version is older than any. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [VERSION.exec(version), VERSION.exec(than)];
  if (left === null || right === null) return true;
  for (const at of [1, 2, 3]) {
    const difference = Number(left[at]) - Number(right[at]);
    if (difference !== 0) return difference < 0;
  }
  // A version that is being prepared comes before the version itself.
  return left[4] !== undefined && right[4] === undefined;
}
