// Canonical JSON, contract A §1.9.1: one text for one value, whoever wrote it down.
import { type InvalidJson, Reader } from './reader.ts';
import { readDocument } from './scan.ts';

export type Canonical = { readonly ok: true; readonly canonical: string } | InvalidJson;

interface CanonicalOptions {
  /** Also refuse two keys of one object that differ only in case: some readers take them for one. */
  readonly foldsKeys?: boolean;
}

/**
 * The canonical form of JSON text. It reads the text itself instead of parsing it into values,
 * so no digit is lost, and it refuses what JSON.parse would let pass: repeated keys, nesting
 * beyond `DEPTH_MAX` and absurd exponents. Time grows with the length of the text, whatever is
 * in it; the caller bounds that length.
 *
 * - Keys are sorted by Unicode code point; there is no white space.
 * - Strings are what JSON.stringify writes, so half surrogate pairs are escaped and every
 *   canonical text has a UTF-8 form.
 * - Numbers are formatted by exact decimal value with ECMAScript's thresholds: plain up to 21
 *   integer digits and down to 0.000001, else `d.ddde+N` with every digit kept. Zero has no sign.
 */
export function canonicalize(
  text: string,
  { foldsKeys = false }: CanonicalOptions = {},
): Canonical {
  const reader = new Reader(text, foldsKeys);
  const canonical = readDocument(reader);
  if (canonical !== undefined) return { ok: true, canonical };
  if (reader.failure === undefined) throw new Error('the reader failed without saying why');
  return reader.failure;
}
