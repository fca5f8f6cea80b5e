// Where events begin and end in the bytes of a stream, so that none is ever sent in part.

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;

/** The place behind the last event that is complete; 0 when none is. */
export function completeEnd(bytes: Buffer): number {
  for (let at = bytes.lastIndexOf(LINE_FEED); at > 0; at = bytes.lastIndexOf(LINE_FEED, at - 1)) {
    if (isBlankBefore(bytes, at)) return at + 1;
  }
  return 0;
}

/** Whether the line that ends at `at` is blank: another line ends right before it. */
function isBlankBefore(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1];
  if (before === LINE_FEED) return true;
  return before === CARRIAGE_RETURN && bytes[at - 2] === LINE_FEED;
}

/** The range of the event that has data and comes after `skipped` others that have. */
export function dataFrame(bytes: Buffer, skipped: number): { start: number; end: number } {
  let start = 0;
  let seen = 0;
  let hasData = startsData(bytes, 0);
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (isBlankBefore(bytes, at)) {
      if (hasData && seen++ === skipped) return { start, end: at + 1 };
      start = at + 1;
      hasData = false;
    }
    hasData ||= startsData(bytes, at + 1);
  }
  return { start, end: bytes.length };
}

const DATA = Buffer.from('data');

/** Whether a line is the field `data`, with a value or without one, and no other that begins like it. */
function startsData(bytes: Buffer, at: number): boolean {
  if (!bytes.subarray(at, at + DATA.length).equals(DATA)) return false;
  const behind = bytes[at + DATA.length];
  return behind === COLON || behind === LINE_FEED || behind === CARRIAGE_RETURN;
}
