/** What was probably meant. Only who made a mistake pays for the help. */
export async function suggestion(
  word: string,
  known: readonly string[],
  other: string,
): Promise<string> {
  if (known.length === 0) return other;
  const { nearest } = await import('@subluminal/core/policy');
  const near = nearest(word, known) ?? nearest(word.split('.').at(-1) ?? '', known);
  return near === undefined ? other : `Did you mean \`${near}\`?`;
}
