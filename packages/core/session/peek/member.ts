// Where a member of a message stands: found again only for who looks into it.
import { COLON, COMMA, OPEN_BRACE, QUOTE } from '../../canon/units.ts';
import { readString, Scan, skipValue } from './scan.ts';
import { decodeText, stringText } from './text.ts';
import type { Range } from './types.ts';

/** The value of a member at the top of a message that has been found valid; undefined without it. */
function memberRange(bytes: Uint8Array, name: string): Range | undefined {
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

export { memberRange };
