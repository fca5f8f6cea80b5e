// Where the members of an object stand in the bytes of a message that has been found valid.
import { type ByteRange, ByteScanner } from './byte-scanner.ts';
import { decodeText, stringText } from './text.ts';
import { COMMA, OPEN_BRACE, QUOTE } from './units.ts';

export interface MemberRange {
  readonly key: string;
  /** Where its key starts. */
  readonly start: number;
  readonly value: ByteRange;
}

/** Every member of the object that starts here, or those up to the one that is looked for. */
export function membersAt(bytes: Uint8Array, at: number, last?: string): readonly MemberRange[] {
  // The message has been found valid, so nothing is checked again.
  const scan = new ByteScanner(bytes, true);
  const members: MemberRange[] = [];
  scan.at = at;
  for (let byte = scan.next(), open = OPEN_BRACE; byte === open; byte = scan.next(), open = COMMA) {
    scan.at++;
    if (scan.next() !== QUOTE) break;
    const start = scan.readKey();
    if (start === -1) break;
    const key = stringText(decodeText(bytes, start, scan.at));
    if (!scan.passColon()) break;
    const from = scan.at;
    if (!scan.skipValue(1)) break;
    members.push({ key, start, value: { start: from, end: scan.at } });
    if (key === last) break;
  }
  return members;
}

/** The value of a member of the object that starts here, at the top of a message unless given; undefined without it. */
export function memberRange(bytes: Uint8Array, name: string, at = 0): ByteRange | undefined {
  const last = membersAt(bytes, at, name).at(-1);
  return last?.key === name ? last.value : undefined;
}
