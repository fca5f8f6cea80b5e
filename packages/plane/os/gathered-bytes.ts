// Bytes that come in parts, and are wanted whole. A part costs some hundred bytes beside its own, so whoever sends one
// byte at a time would fill the memory with what counts as little: many small parts become one.

const PARTS_MAX = 1_024;

export class GatheredBytes {
  length = 0;
  #parts: Uint8Array[] = [];
  /** How many of the first parts were made of many. */
  #joined = 0;

  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.length += part.length;
    if (this.#parts.length - this.#joined < PARTS_MAX) return;
    this.#parts.push(Buffer.concat(this.#parts.splice(this.#joined)));
    this.#joined += 1;
  }

  /** All of them; then it is empty. */
  take(): Buffer {
    const [first] = this.#parts;
    const whole =
      this.#parts.length === 1 && first !== undefined
        ? asBuffer(first)
        : Buffer.concat(this.#parts);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#parts = [];
    this.#joined = 0;
    this.length = 0;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
