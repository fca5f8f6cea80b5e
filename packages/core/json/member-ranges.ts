// Where a member of a message stands: found again only for who looks into it.

import { type Range, readString, Scan, skipValue } from './byte-scanner.ts';
import { decodeText, stringText } from './text.ts';
import { COLON, COMMA, OPEN_BRACE, QUOTE } from './units.ts';

/** The value of a member at the top of a message that has been found valid; undefined without it. */
export function memberRange(bytes: Uint8Array, name: string): Range | undefined {
  // Whatever `peek` has taken is read here too; who parses it finds out the rest.
  const scan = new Scan(bytes, { skim: true });
  if (scan.next() !== OPEN_BRACE) return undefined;
  scan.at++;
  while (scan.next() === QUOTE) {
    const key = scan.at;
    if (!readString(scan)) return undefined;
    const isIt = stringText(decodeText(bytes, key, scan.at)) === name;
    if (scan.next() !== COLON) return undefined;
    scan.at++;
    scan.next();
    const start = scan.at;
    if (!skipValue(scan, 1)) return undefined;
    if (isIt) return { start, end: scan.at };
    if (scan.next() !== COMMA) return undefined;
    scan.at++;
  }
  return undefined;
}

export interface Member {
  readonly key: string;
  /** Where its key starts. */
  readonly start: number;
  readonly value: Range;
}

/** Every member of the object that starts here, in a message that has been found valid. */
export function membersAt(bytes: Uint8Array, at: number): readonly Member[] {
  const scan = new Scan(bytes, { skim: true });
  const members: Member[] = [];
  scan.at = at;
  if (scan.next() !== OPEN_BRACE) return members;
  scan.at++;
  while (scan.next() === QUOTE) {
    const start = scan.at;
    if (!readString(scan)) return members;
    const key = stringText(decodeText(bytes, start, scan.at));
    if (scan.next() !== COLON) return members;
    scan.at++;
    scan.next();
    const from = scan.at;
    if (!skipValue(scan, 1)) return members;
    members.push({ key, start, value: { start: from, end: scan.at } });
    if (scan.next() !== COMMA) return members;
    scan.at++;
  }
  return members;
}
