// Case folding of keys: two keys that fold to one text are one key for some readers.

const NUL = '\0';
const DOTTED_I = 'i\u0307';
/** No NUL, no upper case and nothing beyond ASCII: such a key is its own fold. */
const PLAIN_KEY = /^[^\0A-Z\u0080-\uffff]*$/;

/**
 * The text that all spellings of a key have in common for readers that ignore case. At least as wide as
 * Unicode's simple case folding, which Go's encoding/json uses (`ſ` is an `s`, the Kelvin sign a `k`),
 * and as Java's `equalsIgnoreCase` (`ı` and `İ` are an `i`). To a reader written in C a key ends at NUL.
 */
export function foldKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key;
  // Lower case first: `ẞ` would stay apart from `ß`, which is `SS` in upper case.
  const [seen = ''] = key.split(NUL, 1);
  return seen.toLowerCase().toUpperCase().toLowerCase().replaceAll(DOTTED_I, 'i');
}
