// The way to a peer, whatever carries the messages. The governor knows a peer only by this interface.
import type { LargeHead, Message, Seen, ServerExit } from '@subluminal/core/session';

/** Input of a peer: a whole message, or the parts of one that is too large to hold. */
export type Incoming =
  /** A whole message, ready to be forwarded as it is; only a transport of lines has its newline in it. */
  | {
      readonly kind: 'message';
      readonly bytes: Uint8Array;
      readonly about?: string;
      /** What `peek` sees in it, where its transport had to know. */
      readonly seen?: Seen;
    }
  /** The first part of a message that is too large to inspect. */
  | { readonly kind: 'head'; readonly bytes: Uint8Array; readonly about?: string }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** The large message is over; an incomplete one was cut off by the end of the input. */
  | { readonly kind: 'end'; readonly bytesTotal: number; readonly isComplete: boolean }
  /** The large message is larger than the cap: the rest of it is skipped, and no `end` follows. */
  | { readonly kind: 'too_large'; readonly bytesTotal: number }
  /** The input ended in the middle of a message. */
  | { readonly kind: 'partial'; readonly bytes: Uint8Array };

/**
 * A message as the session has read it, for transports that must know what they write. A gate may have
 * changed its bytes since, but neither its kind nor its id nor its method.
 */
export type ReadMessage = Message | LargeHead;

/** A source that can be held back: it is read again when it was released as often as held. */
export interface Holdable {
  hold(): void;
  release(): void;
}

export interface TransportHandlers {
  /** All messages of one read. */
  incoming(messages: readonly Incoming[]): void;
  /** The peer sends nothing more. */
  end(): void;
  /** The peer no longer reads. */
  broken?(): void;
  /** A large message to the peer has stalled and keeps others waiting: it must be given up. */
  stalled?(): void;
}

/** The way to one peer, an agent or a server. */
export interface Transport extends Holdable {
  read(on: TransportHandlers): void;
  /** Reads nothing more, and calls no `end`. */
  stop(): void;
  /**
   * Writes a whole message. It waits while a large one is on its way. Without `read`, the message is not the
   * peer's: the session has written it, or has held it back before.
   */
  write(message: Uint8Array, read?: ReadMessage): void;
  /** Writes a part of a large message, the first one with `read`; nothing else gets in between. */
  writePart(bytes: Uint8Array, read?: ReadMessage): void;
  /** The large message is whole. */
  endParts(): void;
  /** Breaks the large message off: the peer must not take it for a message. */
  abortParts(): void;
  /** Sources to hold back while the peer does not read. */
  holds(...sources: readonly Holdable[]): void;
  /** Writes what waits, then closes. */
  end(): void;
  /** As `end`; true when all bytes have left. What waits for a large message is written as well. */
  close(timeoutMs: number): Promise<boolean>;
}

/** A server that is reached, whatever runs it. */
export interface ServerEnd {
  readonly transport: Transport;
  /** It is gone for good. A server that may answer again is not: its requests are answered with errors meanwhile. */
  readonly gone: Promise<ServerExit>;
  /** Lets go of it; what it keeps for this session is given up. */
  close(): Promise<void>;
}
