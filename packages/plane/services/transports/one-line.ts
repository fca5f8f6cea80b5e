// A message as one line: bodies of HTTP may be written over several.
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/**
 * The same JSON without line breaks. JSON has them only between its parts, where a space means the same. The
 * session reads one line, and so does a peer on stdio: to it, each line inside of a message would be a message that
 * nobody has judged.
 */
export function oneLine(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(LINE_FEED) && !bytes.includes(CARRIAGE_RETURN)) return bytes;
  const line = Buffer.from(bytes);
  for (const breakByte of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = line.indexOf(breakByte); at !== -1; at = line.indexOf(breakByte, at + 1)) {
      line[at] = SPACE;
    }
  }
  return line;
}
