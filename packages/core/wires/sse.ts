// Server-sent events: bytes in, events out, and back.

export interface SseEvent {
  /** The name of the event; `message` where none is given. */
  readonly event: string;
  /** The lines of its data, joined. */
  readonly data: string;
  readonly id?: string;
}
