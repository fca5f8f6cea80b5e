// A bounded memory for what is asked for again soon. What was not asked for while a whole generation came in is
// forgotten; nothing is moved around for each question.

export interface GenerationLimits {
  /** Of both generations together. */
  readonly entriesMax: number;
  readonly weightMax: number;
}

interface CachedValue<Value> {
  readonly value: Value;
  readonly weight: number;
}

export class GenerationCache<Value> {
  readonly #limits: GenerationLimits;
  #young = new Map<string, CachedValue<Value>>();
  #old = new Map<string, CachedValue<Value>>();
  #weight = 0;

  constructor(limits: GenerationLimits) {
    this.#limits = limits;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.put(key, old.value, old.weight);
    return old.value;
  }

  put(key: string, value: Value, weight: number): void {
    const { entriesMax, weightMax } = this.#limits;
    const isFull = this.#young.size >= entriesMax / 2 || this.#weight + weight > weightMax / 2;
    if (isFull) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, { value, weight });
    this.#weight += weight;
  }
}
