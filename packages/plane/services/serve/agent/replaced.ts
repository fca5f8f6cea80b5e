// Values of a message replaced as bytes; the rest of it stays as it was written.
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The bytes with this text in place of each of the ranges. */
export function replaced(
  bytes: Uint8Array,
  ranges: readonly (ByteRange | undefined)[],
  text: string,
): Uint8Array {
  const value = Buffer.from(text);
  const parts: Uint8Array[] = [];
  let from = 0;
  const found = ranges.filter((range) => range !== undefined);
  for (const { start, end } of found.toSorted((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(from, start), value);
    from = end;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}
