// How messages come in and go out, whatever carries them. The governor knows a peer by this alone.

/** What a peer sends: a whole message, or the parts of one that is too large to hold. */
export type Incoming =
  /** A whole message, ready to be forwarded as it is. */
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  /** The first part of a message that is too large to inspect. */
  | { readonly kind: 'head'; readonly bytes: Uint8Array }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** The large message is over; an incomplete one was cut off by the end of the input. */
  | { readonly kind: 'end'; readonly bytesTotal: number; readonly isComplete: boolean }
  /** The large message has passed the cap: the rest of it is skipped, and no end is told. */
  | { readonly kind: 'too_large'; readonly bytesTotal: number }
  /** The input ended in the middle of a message. */
  | { readonly kind: 'partial'; readonly bytes: Uint8Array };

/** A source that can be held back: it is read again when it was released as often as held. */
export interface Holdable {
  hold(): void;
  release(): void;
}

export interface TransportHandlers {
  /** All that has come at once. */
  incoming(messages: readonly Incoming[]): void;
  /** The peer sends nothing more. */
  end(): void;
  /** The peer no longer reads. */
  broken?(): void;
  /** A large message to the peer does not go on and keeps others waiting: it must be given up. */
  stalled?(): void;
}

/** The way to one peer, an agent or a server. */
export interface Transport extends Holdable {
  read(on: TransportHandlers): void;
  /** Reads nothing more, and tells of no end. */
  stop(): void;
  /** Writes a whole message. It waits while a large one is on its way. */
  write(message: Uint8Array): void;
  /** Writes a part of a large message; nothing else gets in between. */
  writePart(bytes: Uint8Array): void;
  /** The large message is whole. */
  endParts(): void;
  /** The large message ends here, and the peer must not take it for a message. */
  abortParts(): void;
  /** Sources to hold back while the peer takes nothing. */
  holds(...sources: readonly Holdable[]): void;
  /** Writes what waits, then closes. */
  end(): void;
  /** As `end`; true when all bytes have left. What waits for a large message is written as well. */
  close(timeoutMs: number): Promise<boolean>;
}
