// Case folding of keys: two keys that fold to one text are one key for some readers.

const DOTTED_I = 'i\u0307';
/** No upper case and nothing beyond ASCII: such a key is its own fold. */
const PLAIN_KEY = /^[^A-Z\u0080-\uffff]*$/;

/**
 * The text that all spellings of a key have in common for readers that ignore case. At least as wide as
 * Unicode's simple case folding, which Go's encoding/json uses (`ſ` is an `s`, the Kelvin sign a `k`),
 * and as Java's `equalsIgnoreCase` (`ı` and `İ` are an `i`).
 */
function foldKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key;
  // Lower case first: `ẞ` would stay apart from `ß`, which is `SS` in upper case.
  return key.toLowerCase().toUpperCase().toLowerCase().replaceAll(DOTTED_I, 'i');
}

export { foldKey };
