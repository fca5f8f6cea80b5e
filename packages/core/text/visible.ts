// Text of agents, servers and bundles may be hostile: it is made harmless before a person sees it. Every
// place that prints such text goes through here, so that there is one spelling and no gap.

/**
 * Everything that moves a cursor, hides, or changes the order in which text is shown: controls,
 * escapes, bidirectional and zero-width characters, lone surrogates, private and unassigned ones.
 */
export const HIDDEN = String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
/**
 * Build servers obey lines that start with `::`, and `##[` or `##vso[` anywhere. They skip the space
 * at a line's start, and we may break a line at any space, so each space counts as a start.
 */
const COMMAND = String.raw`(?<=^|\s):(?=:)|#(?=#\w*\[)`;
/** A backslash that would make text look like one of our escapes. */
const FORGED = String.raw`\\(?=u\{)`;

const UNSAFE = new RegExp(`${HIDDEN}|${COMMAND}`, 'gu');
const UNSAFE_OR_FORGED = new RegExp(`${HIDDEN}|${COMMAND}|${FORGED}`, 'gu');
const CUT = '…';

/** The text on one line, unsafe characters as `\u{…}`, in at most `lengthMax` characters. */
export function visible(text: string, lengthMax: number): string {
  // One character more than fits is enough to see that it must be cut.
  const shown = text.slice(0, lengthMax + 1).replace(UNSAFE_OR_FORGED, escaped);
  if (shown.length <= lengthMax && text.length <= lengthMax) return shown;
  const room = Math.max(0, lengthMax - CUT.length);
  // Neither an escape nor a surrogate pair is shown in part.
  return shown.slice(0, room).replace(/\\(u(\{[0-9a-f]*)?)?$|[\uD800-\uDBFF]$/, '') + CUT;
}

/** The whole text, safe to print. What is already visible stays as it is, escapes included. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same, in two parts around a place: what is harmful only as a whole must not get through. */
export function harmlessAround(
  text: string,
  place: number,
): readonly [before: string, after: string] {
  let split = place;
  const shown = text.replace(UNSAFE, (char, offset: number) => {
    const spelled = escaped(char);
    if (offset < place) split += spelled.length - char.length;
    return spelled;
  });
  return [shown.slice(0, split), shown.slice(split)];
}

/** JSON that means the same and is safe to print; its line ends are our own. */
export function harmlessJson(json: string): string {
  return json.replace(UNSAFE, (char) => {
    // A string starts with a quote, so no line of JSON starts with a colon.
    return char === '\n' || char === ':' ? char : jsonEscaped(char);
  });
}

function escaped(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

function jsonEscaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

const QUOTE_LENGTH_MAX = 60;

/** Untrusted text between backticks, shortened and made harmless for a message. */
export function quote(text: string): string {
  return `\`${visible(text, QUOTE_LENGTH_MAX)}\``;
}

/** As a shell takes it for one word, in a command that is shown to be copied. */
export function shellWord(word: string): string {
  const shown = harmless(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** The first character of a text by its number, like `U+200B`. */
export function codePointName(text: string): string {
  return `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
