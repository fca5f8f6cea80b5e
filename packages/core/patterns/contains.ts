// Whether a text contains another, in linear time: the engine's own search takes half a minute
// over texts that an agent can make up.

/** Shorter needles can't make the engine's search slow enough to matter. */
const NATIVE_LENGTH_MAX = 64;

/** Knuth, Morris and Pratt's search for long needles, the engine's for short ones. */
export function contains(text: string, needle: string): boolean {
  if (needle.length <= NATIVE_LENGTH_MAX) return text.includes(needle);
  if (needle.length > text.length) return false;
  const fallback = borders(needle);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = fallback[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched++;
    if (matched === needle.length) return true;
  }
  return false;
}

/** For each prefix of the needle, how long its longest end is that is also its beginning. */
function borders(needle: string): Int32Array {
  const lengths = new Int32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    const unit = needle.charCodeAt(at);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = lengths[length - 1] ?? 0;
    if (needle.charCodeAt(length) === unit) length++;
    lengths[at] = length;
  }
  return lengths;
}
