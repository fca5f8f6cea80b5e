// How many turns an endpoint has at once. One that is full is passed over, and the next member of the chain tried.
import type { Endpoint } from '@subluminal/core/routing';

export class EndpointPlaces {
  readonly #taken = new Map<string, number>();

  /** Undefined when the endpoint is full. What it returns leaves the place, once. */
  take({ id, concurrencyMax }: Endpoint): (() => void) | undefined {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= concurrencyMax) return undefined;
    this.#taken.set(id, taken + 1);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      const left = (this.#taken.get(id) ?? 1) - 1;
      if (left === 0) this.#taken.delete(id);
      else this.#taken.set(id, left);
    };
  }
}
