// Texts with an inner form: one pattern each, read by `check` and published in the JSON Schemas.

/** How a format is recognised, and how it is called in messages. */
export interface FormatRule {
  readonly pattern: RegExp;
  readonly words: string;
}

export type Format = 'rfc3339' | 'sha256' | 'pack_version';

const MONTH_AND_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
/** Years that 4 divides, but of the full centuries only those that 400 divides. */
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?';

export const FORMATS: { readonly [F in Format]: FormatRule } = {
  rfc3339: {
    // No second 60: a leap second has no place in a count of milliseconds.
    pattern: new RegExp(`^(?:\\d{4}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)T${TIME}Z$`),
    words: 'an RFC 3339 time in UTC, like 2026-01-31T12:00:00Z',
  },
  sha256: {
    pattern: /^[0-9a-f]{64}$/,
    words: 'a SHA-256 as 64 lowercase hex digits',
  },
  // Only a MAJOR version may change what a field means: another major is not ours to read.
  pack_version: {
    pattern: /^0\.(?:0|[1-9]\d{0,5})\.(?:0|[1-9]\d{0,5})$/,
    words: 'a version of the interface pack with major 0, like 0.2.0',
  },
};

/** The version of the interface pack that this package implements. */
export const PACK_VERSION = '0.2.0';
