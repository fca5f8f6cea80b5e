// What the product does with one event type after it was read: its rows in the ledger, the names that
// filters look at, and its line in `sub tail`. Each type is a member, listed in registry.ts.
import type { EventOf, EventType } from '@subluminal/contracts';
import type { EventPlace, Projection, RunDelta } from '../store/projection.ts';

export interface EventMember<T extends EventType = EventType> {
  /** What the event changes in the tables, besides what every event says of its run. */
  project?(
    into: Projection,
    event: EventOf<T>,
    place: EventPlace & { readonly run: RunDelta },
  ): void;
  /** The server and the tool that the event names. */
  names?(event: EventOf<T>): EventNames;
  /** The line of `sub tail`; undefined when this event is not worth one. Calls have lines of their own. */
  notice?(event: EventOf<T>, about: NoticeSubject): NoticeText | undefined;
}

export interface EventNames {
  readonly server_name?: string;
  readonly tool_name?: string;
}

export interface NoticeSubject {
  /** The id of the run, as long as there is room for. */
  readonly runName: string;
  /** The server behind the shim that sent the event; null when no event has named it. */
  readonly serverName: string | null;
}

/** Hostile text; the printer makes it harmless. */
export interface NoticeText {
  readonly mark: string;
  readonly text: string;
  /** Somebody may have to look after it. */
  readonly isBad: boolean;
}

export function calm(mark: string, text: string): NoticeText {
  return { mark, text, isBad: false };
}

export function bad(mark: string, text: string): NoticeText {
  return { mark, text, isBad: true };
}
