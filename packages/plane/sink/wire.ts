// Lines as bytes for the socket, in memory that is used again as soon as the kernel has them.

/** What goes to the kernel at once: less than its buffer has room for when it is empty. */
const PIECE_BYTES = 131_072;

class Wire {
  #bytes: Buffer | undefined;
  #used = 0;

  /** Adds a line; false when this piece has no room for it. An empty piece has room for any. */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#used > 0 && this.#used + bytes > PIECE_BYTES) return false;
    if (bytes > PIECE_BYTES) {
      this.#bytes = Buffer.from(text);
      this.#used = bytes;
      return true;
    }
    if (this.#bytes?.length !== PIECE_BYTES) this.#bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
    // Almost every line is plain ASCII, which is copied as it is.
    this.#bytes.write(text, this.#used, bytes === text.length ? 'latin1' : 'utf8');
    this.#used += bytes;
    return true;
  }

  /** The bytes that were added; they are overwritten by the next, unless `keep` is called. */
  take(): Buffer {
    const piece = (this.#bytes ?? Buffer.alloc(0)).subarray(0, this.#used);
    this.#used = 0;
    return piece;
  }

  /** Somebody still reads what was taken: the next lines go elsewhere. */
  keep(): void {
    this.#bytes = undefined;
  }
}

export { Wire };
