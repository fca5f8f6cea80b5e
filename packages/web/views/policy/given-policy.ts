/** The text that a tool tries, and the file that it is compared with. */
export interface GivenPolicy {
  readonly text: string;
  readonly path: string | null;
}

/** As the API takes it. */
export function givenBody({ text, path }: GivenPolicy): { text: string; path?: string } {
  return path === null ? { text } : { text, path };
}

const HOUR_MS = 3_600_000;

export const SPANS: readonly (readonly [label: string, ms: number | undefined])[] = [
  ['The newest 100 runs', undefined],
  ['Since an hour ago', HOUR_MS],
  ['Since a day ago', 24 * HOUR_MS],
  ['Since a week ago', 7 * 24 * HOUR_MS],
  ['Since a month ago', 30 * 24 * HOUR_MS],
];
