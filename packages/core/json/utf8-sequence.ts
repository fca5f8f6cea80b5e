// UTF-8 beyond ASCII, one sequence at a time.

/** Behind the sequence that starts here, or -1: overlong forms and surrogates are none. */
export function sequenceEnd(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const second = bytes[at + 1] ?? 0;
  if (lead < 0xe0) return isRest(second) ? at + 2 : -1;
  if (second < secondMin(lead) || second > secondMax(lead)) return -1;
  if (!isRest(bytes[at + 2] ?? 0)) return -1;
  if (lead < 0xf0) return at + 3;
  return isRest(bytes[at + 3] ?? 0) ? at + 4 : -1;
}

function isRest(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function secondMin(lead: number): number {
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

function secondMax(lead: number): number {
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}
