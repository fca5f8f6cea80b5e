// The last requests of the conversations that go on. A turn repeats the one before it, so most of its outline, and
// what was found in it, is known.
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  type ByteTools,
  grownOutline,
  type OutlinedRequest,
  outlineRequest,
  type RequestOutline,
  type SharedParts,
  sharedParts,
  type WireName,
} from '@subluminal/core/wires';

/** Of all requests together; the conversation that was silent for longest is forgotten first. */
const BYTES_MAX = 64 * 2 ** 20;
const REQUEST_BYTES_MAX = 4 * 2 ** 20;
/** What is known of a part, beside its bytes. */
const PART_BYTES = 512;
/** An agent has helpers and titles made in the same session. */
const REQUESTS_PER_CONVERSATION = 4;

export class RequestMemory {
  readonly #tools: ByteTools;
  /** The last one first; conversations in the order of their last turns. */
  readonly #requests = new Map<string, readonly OutlinedRequest[]>();
  #bytes = 0;

  constructor(tools: ByteTools) {
    this.#tools = tools;
  }

  outline(wire: WireName, bytes: Uint8Array, conversation: string): RequestOutline | Failure {
    const key = `${wire} ${conversation}`;
    const known = this.#requests.get(key) ?? [];
    const best = this.#closest(known, bytes);
    const grown = best && grownOutline(best.before, best.shared, { bytes, tools: this.#tools });
    const outline = grown ?? outlineRequest(wire, bytes, this.#tools);
    if (isFailure(outline)) return outline;
    const others = grown === undefined ? known : known.filter((one) => one !== best?.before);
    this.#keep(key, [{ bytes, outline }, ...others]);
    return outline;
  }

  #closest(known: readonly OutlinedRequest[], bytes: Uint8Array) {
    let best: { readonly before: OutlinedRequest; readonly shared: SharedParts } | undefined;
    for (const before of known) {
      const shared = sharedParts(before, bytes, this.#tools);
      if (shared !== undefined && shared.first > (best?.shared.first ?? 0))
        best = { before, shared };
    }
    return best;
  }

  #keep(key: string, requests: readonly OutlinedRequest[]): void {
    const kept = requests
      .filter((request) => sizeOf(request) <= REQUEST_BYTES_MAX)
      .slice(0, REQUESTS_PER_CONVERSATION);
    this.#bytes += sizeOfAll(kept) - sizeOfAll(this.#requests.get(key) ?? []);
    this.#requests.delete(key);
    this.#requests.set(key, kept);
    for (const [oldest, forgotten] of this.#requests) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#requests.delete(oldest);
      this.#bytes -= sizeOfAll(forgotten);
    }
  }
}

function sizeOf({ bytes, outline }: OutlinedRequest): number {
  return bytes.length + outline.parts.length * PART_BYTES;
}

function sizeOfAll(requests: readonly OutlinedRequest[]): number {
  return requests.reduce((sum, request) => sum + sizeOf(request), 0);
}
