// What agents, servers and bundles say is hostile text: made harmless before a person sees it.

/**
 * Everything that moves a cursor, hides, or changes the order in which text is shown: controls,
 * escapes, bidirectional and zero-width characters, lone surrogates, private and unassigned ones.
 * A backslash that would make text look like one of our escapes is one of them.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\\(?=u\{)/gu;
const CUT = '…';

/** The text on one line, unsafe characters as `\u{…}`, in at most `lengthMax` characters. */
function visible(text: string, lengthMax: number): string {
  // One character more than fits is enough to see that it must be cut.
  const shown = text.slice(0, lengthMax + 1).replace(UNSAFE, escaped);
  if (shown.length <= lengthMax && text.length <= lengthMax) return shown;
  const room = Math.max(0, lengthMax - CUT.length);
  // Neither an escape nor a surrogate pair is shown in part.
  return shown.slice(0, room).replace(/\\(u(\{[0-9a-f]*)?)?$|[\uD800-\uDBFF]$/, '') + CUT;
}

function escaped(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

export { visible };
