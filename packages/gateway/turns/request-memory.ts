// The last requests of the conversations that go on. A turn repeats the one before it, so most of its outline, and
// what was found in it, is known.
import { type Failure, isFailure } from '@subluminal/contracts';
import { detached } from '@subluminal/core/detached';
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
/** Room for the next turns of a conversation. */
const GROWTH = 1.25;
/** An agent has helpers and titles made in the same session. */
const REQUESTS_PER_CONVERSATION = 4;

interface Closest {
  readonly before: OutlinedRequest;
  readonly shared: SharedParts;
}

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
    const outline = grown ?? this.#outlineAnew(wire, bytes);
    if (isFailure(outline)) return outline;
    if (bytes.length > REQUEST_BYTES_MAX) return outline;
    const replaced = grown && best;
    const others = known.filter((one) => one !== replaced?.before);
    this.#keep(key, [{ bytes: ownBytes(bytes, replaced), outline }, ...others]);
    return outline;
  }

  /** Its names were cut out of the text of the whole request, which must not be kept beside the bytes. */
  #outlineAnew(wire: WireName, bytes: Uint8Array): RequestOutline | Failure {
    const outline = outlineRequest(wire, bytes, this.#tools);
    if (isFailure(outline)) return outline;
    const { model, toolNames } = outline;
    return { ...outline, model: detached(model), toolNames: toolNames.map(detached) };
  }

  #closest(known: readonly OutlinedRequest[], bytes: Uint8Array): Closest | undefined {
    let best: Closest | undefined;
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
    // A name alone would never be forgotten: it has no bytes that count.
    if (kept.length > 0) this.#requests.set(key, kept);
    for (const [oldest, forgotten] of this.#requests) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#requests.delete(oldest);
      this.#bytes -= sizeOfAll(forgotten);
    }
  }
}

/**
 * A copy, in the room of the request that this one grew from where it fits. A request that was kept itself would be
 * old garbage by the next turn, and only a collection of the whole heap frees that.
 */
function ownBytes(bytes: Uint8Array, grownFrom: Closest | undefined): Uint8Array {
  const { before, shared } = grownFrom ?? {};
  const room = before && new Uint8Array(before.bytes.buffer);
  if (room === undefined || room.length < bytes.length) {
    const larger = new Uint8Array(Math.ceil(bytes.length * GROWTH));
    larger.set(bytes);
    return larger.subarray(0, bytes.length);
  }
  const same = shared?.parts[shared.first - 1]?.range.end ?? 0;
  room.set(bytes.subarray(same), same);
  return room.subarray(0, bytes.length);
}

function sizeOf({ bytes, outline }: OutlinedRequest): number {
  return bytes.buffer.byteLength + outline.parts.length * PART_BYTES;
}

function sizeOfAll(requests: readonly OutlinedRequest[]): number {
  return requests.reduce((sum, request) => sum + sizeOf(request), 0);
}
