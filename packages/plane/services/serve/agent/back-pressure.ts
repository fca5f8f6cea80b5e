// Responses whose client reads too slowly hold back what would be written to them.
import type { ServerResponse } from 'node:http';
import type { Holdable } from '../../transports/types.ts';

const BYTES_HIGH = 1024 * 1024;
/** A client that has not taken anything for so long is given up. */
const STUCK_MS = 60_000;

/** Gives a client up that does not take the rest of its response, which has ended. */
export function endWhenStuck(response: ServerResponse): void {
  if (response.writableLength === 0) return;
  const stuck = setTimeout(() => response.destroy(), STUCK_MS).unref();
  response.once('close', () => clearTimeout(stuck));
}

export class BackPressure {
  readonly #sources: Holdable[] = [];
  readonly #full = new Set<ServerResponse>();

  holds(sources: readonly Holdable[]): void {
    this.#sources.push(...sources);
    if (this.#full.size > 0) for (const source of sources) source.hold();
  }

  /** Something was written to it. */
  watch(response: ServerResponse): void {
    if (response.writableLength <= BYTES_HIGH || this.#full.has(response)) return;
    this.#full.add(response);
    if (this.#full.size === 1) for (const source of this.#sources) source.hold();
    const stuck = setTimeout(() => response.destroy(), STUCK_MS).unref();
    const relieve = (): void => {
      clearTimeout(stuck);
      response.off('drain', relieve);
      response.off('close', relieve);
      if (!this.#full.delete(response) || this.#full.size > 0) return;
      for (const source of this.#sources) source.release();
    };
    response.once('drain', relieve);
    response.once('close', relieve);
  }
}
