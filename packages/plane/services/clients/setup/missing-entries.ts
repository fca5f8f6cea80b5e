// What others have taken out of a config since we changed it, in words.

interface Lost {
  readonly path: string;
  readonly missing: readonly { readonly name: string }[];
  /** Where the config is kept as it was before us. */
  readonly original: string | undefined;
}

/** A whole sentence; undefined when nothing is missing. */
export function missingEntriesText({ path, missing, original }: Lost): string | undefined {
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(', ');
  const where = original === undefined ? '' : ` The config as it was before is in ${original}.`;
  return `${path} does not have ${names} any more: another program has removed what was governed, and it cannot be put back.${where}`;
}
