// Looking into JSON of which nothing is known, for tests only.

/** What stands under a path of keys, or undefined. */
export function under(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) here = membersOf(here).get(key);
  return here;
}

export function has(value: unknown, key: string): boolean {
  return membersOf(value).has(key);
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return new Map(isObject ? Object.entries(value) : []);
}

export function parsed(text: string): unknown {
  return JSON.parse(text);
}
