// Where lines wait as bytes until the ledger has confirmed them: in large pieces of memory beside
// the heap, which are used again. As strings they would be moved about by every collection.

interface Slab {
  readonly bytes: Buffer;
  /** Where the next line goes. */
  used: number;
  /** How many lines in it still wait. */
  lines: number;
}

/** What goes to the kernel at once: less than its buffer has room for when it is empty. */
const SLAB_BYTES = 131_072;
/** More than a calm ledger ever leaves us with. */
const SPARE_MAX = 4;

export interface Place {
  readonly slab: Slab;
  start: number;
  end: number;
}

export class Slabs {
  #current: Slab | undefined;
  readonly #spare: Slab[] = [];

  /** Puts a line where there is room for it. */
  put(text: string): Place {
    const bytes = Buffer.byteLength(text);
    const slab = this.#roomFor(bytes);
    const start = slab.used;
    write(slab.bytes, { text, start, bytes });
    slab.used += bytes;
    slab.lines++;
    return { slab, start, end: slab.used };
  }

  /** Puts a shorter line in the place of another; false when it is not shorter. */
  shorten(place: Place, text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes >= place.end - place.start) return false;
    write(place.slab.bytes, { text, start: place.start, bytes });
    place.end = place.start + bytes;
    return true;
  }

  /** A line no longer waits; `isRead` when nobody else can still be reading its memory. */
  free({ slab }: Place, isRead: boolean): void {
    if (--slab.lines > 0) return;
    if (slab === this.#current) {
      if (isRead) slab.used = 0;
      return;
    }
    if (!isRead || slab.bytes.length !== SLAB_BYTES || this.#spare.length >= SPARE_MAX) return;
    slab.used = 0;
    this.#spare.push(slab);
  }

  #roomFor(bytes: number): Slab {
    const current = this.#current;
    if (current !== undefined && current.used + bytes <= current.bytes.length) return current;
    const spare = bytes <= SLAB_BYTES ? this.#spare.pop() : undefined;
    this.#current = spare ?? newSlab(Math.max(bytes, SLAB_BYTES));
    return this.#current;
  }
}

function newSlab(bytes: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(bytes), used: 0, lines: 0 };
}

function write(
  target: Buffer,
  { text, start, bytes }: { readonly text: string; readonly start: number; readonly bytes: number },
): void {
  // Almost every line is plain ASCII, which is copied as it is.
  target.write(text, start, bytes === text.length ? 'latin1' : 'utf8');
}

export function bytesOf({ slab, start, end }: Place): Buffer {
  return slab.bytes.subarray(start, end);
}
