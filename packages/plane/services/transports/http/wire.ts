// What the two ways to speak MCP over HTTP share: Streamable HTTP, and HTTP+SSE of 2024-11-05.
import type { CallAbort } from '../../../os/upstream/index.ts';
import type { HttpClient } from './http-client.ts';
import type { Inbox } from './inbox.ts';
import { answeredIds, isPlainAnswer } from './message-facts.ts';
import type { OpenHttpRequests, OpenRequest, OutgoingMessage } from './open-requests.ts';
import type { SseHandlers } from './sse-frames.ts';

/** What a wire works with. */
export interface WireParts {
  readonly serverName: string;
  readonly url: string;
  readonly client: HttpClient;
  readonly inbox: Inbox;
  readonly open: OpenHttpRequests;
  /** How long a request may wait for its answer, and for each further part of it. */
  readonly requestMs: number;
  readonly warn: (text: string, facts?: { readonly [fact: string]: unknown }) => void;
}

/** Of every message over Streamable HTTP. */
export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export interface Wire {
  /** Sends a request; it is answered in any case. */
  request(request: OpenRequest): Promise<void>;
  /** Sends a message that has no answer. */
  tell(message: OutgoingMessage): Promise<void>;
  /** Ends everything that is open, and the session on the server. */
  close(): Promise<void>;
}

/** Where a stream of events stands. */
export interface StreamCursor {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Events since the connection was made. */
  events: number;
  /** Connections in a row without an event. */
  emptyStreams: number;
}

export function newCursor(): StreamCursor {
  return { lastEventId: undefined, retryMs: undefined, events: 0, emptyStreams: 0 };
}

/** Event ids that can't stand in a header are not used. */
const EVENT_ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
/** What a server may ask for: not a loop without a pause, and not forever. */
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 300_000;

export function followCursor(cursor: StreamCursor): SseHandlers {
  return {
    event: () => {
      cursor.events++;
    },
    id: (id) => {
      cursor.lastEventId = EVENT_ID.test(id) ? id : undefined;
    },
    retry: (retryMs) => {
      cursor.retryMs = Math.min(Math.max(retryMs, RETRY_MS_MIN), RETRY_MS_MAX);
    },
  };
}

/**
 * Notes which requests a message of the server answers; gives the ones that are done. `expected` is the id of the
 * request on whose stream it came.
 */
export function noteAnswers(
  open: OpenHttpRequests,
  message: Uint8Array,
  expected?: string,
): readonly OpenRequest[] {
  if (expected !== undefined && isPlainAnswer(message, expected)) {
    const request = open.answered(expected);
    return request === undefined ? [] : [request];
  }
  return answeredIds(message).flatMap((id) => open.answered(id) ?? []);
}

/** As long as a wait, or shorter when it is aborted. */
export function pause(waitMs: number, signal: CallAbort): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, waitMs);
    timer.unref();
    signal.addEventListener('abort', over);
  });
}

export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType ?? '');
}

export function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/json\s*(?:;|$)/i.test(contentType ?? '');
}
