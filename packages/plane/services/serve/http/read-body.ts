// The body of a POST: whole where it may be inspected, else its first part and a request to read on from.
import type { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../../../os/gathered-bytes.ts';
import { oneLine } from '../../transports/one-line.ts';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'large'; readonly head: Uint8Array }
  | { readonly kind: 'too_large' }
  /** Too many bodies are held in memory at once. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' };

export interface BodyLimits {
  readonly inspectBytesMax: number;
  readonly messageBytesMax: number;
}

const HELD_BYTES_MAX = 256 * 1024 * 1024;
/** Of one caller: its slow bodies must not keep others out. */
const OWN_BYTES_MAX = 64 * 1024 * 1024;

export class BodyReader {
  readonly #limits: BodyLimits;
  #heldBytes = 0;
  /** By caller, of those with a body under way. */
  readonly #ownBytes = new Map<string, number>();

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** `owner`: whose body it is. */
  read(request: IncomingMessage, owner: string, then: (body: Body) => void): void {
    const { inspectBytesMax, messageBytesMax } = this.#limits;
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > messageBytesMax) return then({ kind: 'too_large' });
    if (!this.#hasRoom(owner)) return then({ kind: 'busy' });
    const gathered = new GatheredBytes();
    let held = 0;
    const settle = (body: Body): void => {
      request.off('data', take);
      request.off('end', end);
      request.off('close', abort);
      this.#hold(owner, -held);
      then(body);
    };
    const take = (chunk: Buffer): void => {
      gathered.add(chunk);
      held += chunk.length;
      this.#hold(owner, chunk.length);
      if (held <= inspectBytesMax) return;
      request.pause();
      const all = gathered.take();
      // What is beyond the head is read again, by whoever takes the parts.
      request.unshift(all.subarray(inspectBytesMax));
      settle({ kind: 'large', head: oneLine(all.subarray(0, inspectBytesMax)) });
    };
    const end = (): void => settle({ kind: 'whole', bytes: oneLine(gathered.take()) });
    const abort = (): void => settle({ kind: 'aborted' });
    request.on('data', take);
    request.once('end', end);
    request.once('close', abort);
  }

  #hasRoom(owner: string): boolean {
    return this.#heldBytes <= HELD_BYTES_MAX && (this.#ownBytes.get(owner) ?? 0) <= OWN_BYTES_MAX;
  }

  #hold(owner: string, bytes: number): void {
    this.#heldBytes += bytes;
    const own = (this.#ownBytes.get(owner) ?? 0) + bytes;
    if (own > 0) this.#ownBytes.set(owner, own);
    else this.#ownBytes.delete(owner);
  }
}
