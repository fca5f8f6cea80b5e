// Where the messages of a batch stand in its line.

import { ByteScanner } from '../json/byte-scanner.ts';
import { CLOSE_BRACKET, COMMA, END, OPEN_BRACE } from '../json/units.ts';
import type { InvalidReason, Range } from './peek/types.ts';

export type Items =
  | { readonly ok: true; readonly items: readonly Range[] }
  | { readonly ok: false; readonly reason: InvalidReason; readonly offset: number };

/** Where the messages of a batch stand. The whole array is validated. */
export function itemsOf(bytes: Uint8Array, itemsMax: number): Items {
  const scan = new ByteScanner<InvalidReason>(bytes, false);
  const items: Range[] = [];
  scan.next();
  scan.at++;
  const empty = scan.next() === CLOSE_BRACKET;
  for (;;) {
    const byte = scan.next();
    const start = scan.at;
    if (empty || byte !== OPEN_BRACE) scan.complain('not_object');
    if (items.length >= itemsMax) scan.complain('too_many_keys');
    if (scan.reason !== undefined || !scan.skipValue(1)) break;
    items.push({ start, end: scan.at });
    const next = scan.next();
    scan.at++;
    if (next === CLOSE_BRACKET) break;
    if (next !== COMMA) scan.complain('json');
  }
  if (scan.reason === undefined && scan.next() !== END) scan.complain('json');
  const { reason, offset } = scan;
  return reason === undefined ? { ok: true, items } : { ok: false, reason, offset };
}
