// A server's transport that speaks the era of the agent, whatever the server speaks. The first messages show
// whether the eras differ. When they do not, every message passes untouched and unread.
import { eraOf, peek, type Seen } from '@subluminal/core/session';
import type { Holdable, Incoming, ReadMessage, Transport, TransportHandlers } from '../types.ts';
import type { BridgePump } from './bridge-pump.ts';

export interface BridgeOptions {
  /** Up to here, a message is delivered whole. */
  readonly inspectBytesMax: number;
  /** Tells the operator. */
  readonly note: (detail: string) => void;
  /** Shared by all ways to one server. */
  readonly eras?: EraMemory;
}

/** What is remembered of a server between its sessions. */
export interface EraMemory {
  /** It has ended when it was asked for its era: the next time, the handshake comes first. */
  isLegacy: boolean;
}

type State =
  /** No message has shown the era of the agent. */
  | { readonly kind: 'first' }
  /** The agent has sent `initialize`: the server's answer shows its era. */
  | { readonly kind: 'handshake'; readonly idJson: string; readonly bytes: Uint8Array }
  | { readonly kind: 'same' }
  /** The code of the bridge is being loaded; messages wait. */
  | { readonly kind: 'loading' }
  | { readonly kind: 'bridged'; readonly pump: BridgePump };

/** What begins a negotiation: the first request of a modern agent, or a refused `initialize`. */
export type Beginning =
  | { readonly era: 'modern'; readonly request: Uint8Array }
  | { readonly era: 'legacy'; readonly request: Uint8Array; readonly refusal: Uint8Array };

export function bridgeEras(server: Transport, options: BridgeOptions): Transport {
  return new EraTransport(server, options);
}

class EraTransport implements Transport {
  readonly #server: Transport;
  readonly #options: BridgeOptions;
  #on: TransportHandlers | undefined;
  #state: State = { kind: 'first' };
  #loading: Promise<void> | undefined;
  /** What came while the bridge was being loaded. */
  #waiting: (() => void)[] = [];

  constructor(server: Transport, options: BridgeOptions) {
    this.#server = server;
    this.#options = options;
  }

  read(on: TransportHandlers): void {
    this.#on = on;
    this.#server.read({
      ...on,
      incoming: (messages) => this.#incoming(on, messages),
      end: () =>
        this.#later(
          ({ pump }) => pump.ended(),
          () => on.end(),
        ),
    });
  }

  hold(): void {
    this.#server.hold();
  }

  release(): void {
    this.#server.release();
  }

  stop(): void {
    if (this.#state.kind === 'bridged') this.#state.pump.stop();
    this.#server.stop();
  }

  write(message: Uint8Array, read?: ReadMessage): void {
    if (this.#state.kind === 'same') return this.#server.write(message, read);
    if (this.#state.kind === 'first' && this.#begins(message, read)) return;
    this.#later(
      ({ pump }) => pump.write(message),
      () => this.#server.write(message, read),
    );
  }

  writePart(bytes: Uint8Array, read?: ReadMessage): void {
    this.#later(
      ({ pump }) => pump.writePart(bytes),
      () => this.#server.writePart(bytes, read),
    );
  }

  endParts(): void {
    this.#later(
      ({ pump }) => pump.endParts(),
      () => this.#server.endParts(),
    );
  }

  abortParts(): void {
    this.#later(
      ({ pump }) => pump.abortParts(),
      () => this.#server.abortParts(),
    );
  }

  holds(...sources: readonly Holdable[]): void {
    this.#server.holds(...sources);
  }

  end(): void {
    this.#later(
      ({ pump }) => pump.end(),
      () => this.#server.end(),
    );
  }

  async close(timeoutMs: number): Promise<boolean> {
    const untilMs = performance.now() + timeoutMs;
    await this.#loading;
    // What waits for the server must get there first.
    if (this.#state.kind === 'bridged') await this.#state.pump.idle(timeoutMs);
    return this.#server.close(Math.max(0, untilMs - performance.now()));
  }

  /** Goes by the bridge if there is one, and waits for it while it is being loaded. */
  #later(bridged: (state: Extract<State, { kind: 'bridged' }>) => void, direct: () => void): void {
    const state = this.#state;
    if (state.kind === 'bridged') bridged(state);
    else if (state.kind === 'loading') this.#waiting.push(() => this.#later(bridged, direct));
    else direct();
  }

  /** Looks at a message of the agent for its era; true when it begins a negotiation, which takes it. */
  #begins(bytes: Uint8Array, read: ReadMessage | undefined): boolean {
    const seen: Seen = read?.kind === 'whole' ? read.seen : peek(bytes);
    if (seen.kind !== 'request') return false;
    if (eraOf(seen.params.metaVersion) === 'modern') {
      this.#state = { kind: 'loading' };
      this.#loading = this.#load({ era: 'modern', request: bytes });
      return true;
    }
    if (seen.method === 'initialize') {
      this.#state = { kind: 'handshake', idJson: seen.id.json, bytes };
    }
    return false;
  }

  #incoming(on: TransportHandlers, messages: readonly Incoming[]): void {
    if (this.#state.kind === 'same') return on.incoming(messages);
    const rest = this.#state.kind === 'handshake' ? this.#lookForRefusal(on, messages) : messages;
    if (rest.length === 0) return;
    this.#later(
      ({ pump }) => pump.incoming(rest),
      () => on.incoming(rest),
    );
  }

  /** Looks for the answer to `initialize`; gives the messages that are not handled yet. */
  #lookForRefusal(on: TransportHandlers, messages: readonly Incoming[]): readonly Incoming[] {
    for (const [index, message] of messages.entries()) {
      if (this.#state.kind !== 'handshake') break;
      const seen = message.kind === 'message' ? peek(message.bytes) : undefined;
      if (seen?.kind !== 'response' || seen.id?.json !== this.#state.idJson) continue;
      if (seen.failed !== 'rpc' || message.kind !== 'message') {
        this.#state = { kind: 'same' };
        break;
      }
      const { bytes: request } = this.#state;
      this.#state = { kind: 'loading' };
      this.#loading = this.#load({ era: 'legacy', request, refusal: message.bytes });
      if (index > 0) on.incoming(messages.slice(0, index));
      return messages.slice(index + 1);
    }
    return messages;
  }

  async #load(beginning: Beginning): Promise<void> {
    const { BridgePump } = await import('./bridge-pump.ts');
    const pump = new BridgePump(this.#server, {
      ...this.#options,
      on: () => this.#on,
      // The bridge has done its work: the eras are the same, or nobody knows.
      settled: (kind) => (this.#state = { kind }),
    });
    this.#state = { kind: 'bridged', pump };
    pump.begin(beginning);
    for (const act of this.#waiting.splice(0)) act();
  }
}
