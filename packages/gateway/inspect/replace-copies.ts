// Takes values out of the JSON of a request wherever they stand; every other byte stays as it is.

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** The longest: `\u00e9`. */
const ESCAPE_BYTES = 6;

/** Replaces values wherever else they stand in a string. */
export function replaceCopies(bytes: Buffer, marks: ReadonlyMap<string, string>): Buffer {
  let out = bytes;
  for (const [value, mark] of marks) {
    out = replaceCopy(out, Buffer.from(JSON.stringify(value).slice(1, -1)), mark);
  }
  return out;
}

function replaceCopy(bytes: Buffer, value: Buffer, mark: string): Buffer {
  const pieces: (Buffer | string)[] = [];
  let done = 0;
  for (let at = bytes.indexOf(value); at !== -1; at = bytes.indexOf(value, at)) {
    if (isInsideEscape(bytes, at)) {
      at++;
      continue;
    }
    pieces.push(bytes.subarray(done, at), mark);
    at += value.length;
    done = at;
  }
  if (done === 0) return bytes;
  pieces.push(bytes.subarray(done));
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

/** Whether the byte is not the first one of an escape: `n` of `\n`, `e` of `\u00e9`. */
function isInsideEscape(bytes: Buffer, at: number): boolean {
  for (let back = 1; back < ESCAPE_BYTES; back++) {
    if (bytes[at - back] !== BACKSLASH) continue;
    let slashes = 1;
    while (bytes[at - back - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return false;
    return back === 1 || bytes[at - back + 1] === LOWER_U;
  }
  return false;
}
