// The keys of the objects that are open while JSON bytes are walked. An object is canonical only if its
// keys ascend, and unambiguous only if no two of them differ only in case.
import type { ByteRange } from './byte-scanner.ts';
import { UPPER_A, UPPER_Z } from './units.ts';

/** Objects with more keys are left to the reader of the text, which compares them without squares. */
const COMPARED_MAX = 17;

/** Open objects that have more keys in all are left to the reader of the text, too. */
const OPEN_MAX = 1_024;

export class OpenKeys {
  count = 0;
  /** Where each key starts and ends, quotes included. */
  private readonly starts = new Uint32Array(OPEN_MAX);
  private readonly ends = new Uint32Array(OPEN_MAX);

  /** Adds a key to the object whose keys begin at `first`; false unless it sorts behind the last one. */
  add(bytes: Uint8Array, first: number, { start, end }: ByteRange): boolean {
    const { starts, ends } = this;
    const last = this.count - 1;
    if (this.count === OPEN_MAX) return false;
    starts[this.count] = start;
    ends[this.count++] = end;
    if (last < first) return true;
    const before = starts[last] ?? 0;
    const beforeLength = (ends[last] ?? 0) - before;
    const shared = Math.min(beforeLength, end - start) - 1;
    // In UTF-8, bytes sort as code points do.
    for (let index = 1; index < shared; index++) {
      const difference = (bytes[before + index] ?? 0) - (bytes[start + index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return beforeLength < end - start;
  }

  /** Closes the object whose keys begin at `first`; false if two of them may differ only in case. */
  close(bytes: Uint8Array, first: number): boolean {
    const areDistinct = this.count - first < 2 || this.areDistinct(bytes, first);
    this.count = first;
    return areDistinct;
  }

  private areDistinct(bytes: Uint8Array, first: number): boolean {
    const { count } = this;
    for (let one = first; one < count; one++) {
      const kind = this.kindOf(bytes, one);
      if (kind === 'other' || (kind === 'upper' && count - first > COMPARED_MAX)) return false;
      if (kind === 'lower') continue;
      // In the order of bytes upper case comes first, so of two keys that fold together the first has it.
      for (let two = one + 1; two < count; two++)
        if (this.areOneFolded(bytes, one, two)) return false;
    }
    return true;
  }

  /** Whether a key has upper case, so that another key may fold to it; `other` has characters beyond ASCII. */
  private kindOf(bytes: Uint8Array, key: number): 'lower' | 'upper' | 'other' {
    const end = this.ends[key] ?? 0;
    let kind: 'lower' | 'upper' = 'lower';
    for (let at = this.starts[key] ?? 0; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80) return 'other';
      if (byte >= UPPER_A && byte <= UPPER_Z) kind = 'upper';
    }
    return kind;
  }

  private areOneFolded(bytes: Uint8Array, one: number, two: number): boolean {
    const start = this.starts[one] ?? 0;
    const from = this.starts[two] ?? 0;
    const length = (this.ends[one] ?? 0) - start;
    if ((this.ends[two] ?? 0) - from !== length) return false;
    for (let index = 0; index < length; index++) {
      if (lowerCase(bytes[start + index] ?? 0) !== lowerCase(bytes[from + index] ?? 0))
        return false;
    }
    return true;
  }
}

function lowerCase(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | 0x20 : byte;
}
