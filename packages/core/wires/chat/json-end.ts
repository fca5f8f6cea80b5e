/** Tells when the pieces of a JSON object are whole, without parsing them. */
export class JsonEnd {
  #depth = 0;
  #isQuoted = false;
  #isEscaped = false;
  #isWhole = false;

  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#unit(text.charCodeAt(at));
  }

  #unit(unit: number): void {
    if (this.#isQuoted) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (unit === 0x5c) this.#isEscaped = true;
      else if (unit === 0x22) this.#isQuoted = false;
      return;
    }
    if (unit === 0x22) this.#isQuoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      this.#depth += 1;
      this.#isWhole = false;
    } else if (unit === 0x7d || unit === 0x5d) {
      this.#depth -= 1;
      this.#isWhole = this.#depth === 0;
    }
  }
}
