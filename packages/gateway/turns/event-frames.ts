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

/**
 * The range of the event that has data and comes after `skipped` others that have. Lines end here as the reader of
 * events ends them: what the two counted differently would let an event through that was to be taken out.
 */
export function dataFrame(bytes: Buffer, skipped: number): { start: number; end: number } {
  let start = 0;
  let seen = 0;
  let hasData = false;
  let feed = -1;
  let carriage = -1;
  for (let at = 0; at < bytes.length; ) {
    if (feed < at) feed = placeOf(bytes, LINE_FEED, at);
    if (carriage < at) carriage = placeOf(bytes, CARRIAGE_RETURN, at);
    const end = Math.min(feed, carriage);
    const next = end === carriage && feed === end + 1 ? end + 2 : end + 1;
    if (end > at) hasData ||= startsData(bytes, at);
    else {
      if (hasData && seen++ === skipped) return { start, end: next };
      start = next;
      hasData = false;
    }
    at = next;
  }
  return { start, end: bytes.length };
}

/** The end of the bytes where it is not among them. */
function placeOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The start of a stream without marks, which some readers skip and others take for a part of the first line. */
export function withoutByteOrderMarks(bytes: Buffer): Buffer {
  let start = 0;
  while (BYTE_ORDER_MARK.equals(bytes.subarray(start, start + BYTE_ORDER_MARK.length)))
    start += BYTE_ORDER_MARK.length;
  return bytes.subarray(start);
}

const DATA = Buffer.from('data');

/** Whether a line is the field `data`, with a value or without one, and no other that begins like it. */
function startsData(bytes: Buffer, at: number): boolean {
  if (!bytes.subarray(at, at + DATA.length).equals(DATA)) return false;
  const behind = bytes[at + DATA.length];
  return behind === COLON || behind === LINE_FEED || behind === CARRIAGE_RETURN;
}
