/** The text that a tool tries, and the file that it is compared with. */
export interface GivenPolicy {
  readonly text: string;
  readonly path: string | null;
}

/** As the API takes it. */
export function givenBody({ text, path }: GivenPolicy): { text: string; path?: string } {
  return path === null ? { text } : { text, path };
}
