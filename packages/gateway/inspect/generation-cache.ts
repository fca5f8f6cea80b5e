// A bounded memory for what is asked for again soon. What was not asked for while a whole generation came in is
// forgotten; nothing is moved around for each question.

/** A value, and about what it takes in memory. */
export interface SizedValue {
  readonly bytes: number;
}

export class GenerationCache<Value extends SizedValue> {
  readonly #generationBytesMax: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngBytes = 0;

  /** `bytesMax`: of both generations together. */
  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.put(key, old);
    return old;
  }

  /** What would not fit into a generation is not kept. */
  put(key: string, value: Value): void {
    const { bytes } = value;
    if (bytes > this.#generationBytesMax) return;
    this.#youngBytes += bytes - (this.#young.get(key)?.bytes ?? 0);
    if (this.#youngBytes > this.#generationBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = bytes;
    }
    this.#young.set(key, value);
  }

  /** Values that were put take so much more now. */
  grow(bytes: number): void {
    this.#youngBytes += bytes;
  }
}
