// Tells the page that something was recorded. What is shown is then asked for again: the page folds no events.
import { API_ENDPOINTS, API_STREAM_PROTOCOL, PAGE_TOKEN_PROTOCOL } from '@subluminal/contracts';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { pageToken } from './page-token.ts';

/** A call that an event was about. */
export interface ChangedCall {
  readonly runId: string;
  readonly callId: string;
}

export interface Signal {
  readonly calls: readonly ChangedCall[];
  /** The types of the events, each once. */
  readonly types: ReadonlySet<string>;
}

export type StreamState = 'connecting' | 'open' | 'lost';

const GATHER_MS = 80;
const RETRY_MS = { first: 500, max: 3_000 };
/** Beyond it, whoever listens asks for everything again. */
const CALLS_MAX = 200;

class LiveSignal {
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #watchers = new Set<() => void>();
  #socket: WebSocket | undefined;
  #connection: StreamState = 'connecting';
  #lastSeq: number | undefined;
  #retryMs = RETRY_MS.first;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #gather: ReturnType<typeof setTimeout> | undefined;
  #calls = new Map<string, ChangedCall>();
  #types = new Set<string>();

  get connection(): StreamState {
    return this.#connection;
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  listen(listener: (signal: Signal) => void): () => void {
    this.#listeners.add(listener);
    if (this.#socket === undefined && this.#retry === undefined) this.#open();
    return () => {
      this.#listeners.delete(listener);
      // Another view may listen in the same moment.
      setTimeout(() => {
        if (this.#listeners.size === 0) this.#close();
      });
    };
  }

  #open(): void {
    this.#retry = undefined;
    const { protocol, host } = globalThis.location;
    const after = this.#lastSeq === undefined ? '' : `?after=${this.#lastSeq}`;
    const scheme = protocol === 'https:' ? 'wss' : 'ws';
    const target = `${scheme}://${host}${API_ENDPOINTS.stream.path}${after}`;
    const socket = new WebSocket(target, [API_STREAM_PROTOCOL, PAGE_TOKEN_PROTOCOL + pageToken()]);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#retryMs = RETRY_MS.first;
      this.#say('open');
      // What came before is not announced.
      this.#gatherSoon();
    });
    socket.addEventListener('message', ({ data }) => this.#take(String(data)));
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#say('lost');
      if (this.#listeners.size === 0) return;
      this.#retry = setTimeout(() => this.#open(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.max);
    });
  }

  #close(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#socket?.close();
  }

  #say(connection: StreamState): void {
    this.#connection = connection;
    for (const watcher of this.#watchers) watcher();
  }

  #take(text: string): void {
    const { seq, event } = readMessage(text);
    this.#lastSeq = seq ?? this.#lastSeq;
    this.#types.add(event.type);
    if (event.callId !== '' && this.#calls.size < CALLS_MAX) {
      const { runId, callId } = event;
      this.#calls.set(`${runId} ${callId}`, { runId, callId });
    }
    this.#gatherSoon();
  }

  #gatherSoon(): void {
    if (this.#gather !== undefined) return;
    this.#gather = setTimeout(() => {
      this.#gather = undefined;
      const signal = { calls: [...this.#calls.values()], types: this.#types };
      this.#calls = new Map();
      this.#types = new Set();
      for (const listener of this.#listeners) listener(signal);
    }, GATHER_MS);
  }
}

interface NamedEvent {
  readonly type: string;
  readonly runId: string;
  readonly callId: string;
}

/** An event of a type that this version does not know is a signal, too. */
function readMessage(text: string): {
  readonly seq: number | undefined;
  readonly event: NamedEvent;
} {
  const message: unknown = JSON.parse(text);
  const { seq, event } = fields(message);
  const { type, run_id, call } = fields(event);
  const { call_id } = fields(call);
  return {
    seq: typeof seq === 'number' ? seq : undefined,
    event: { type: word(type), runId: word(run_id), callId: word(call_id) },
  };
}

function fields(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const live = new LiveSignal();

/** Calls the listener whenever something was recorded, at most a dozen times a second. */
export function useLiveSignal(listener: (signal: Signal) => void): void {
  const latest = useEffectEvent(listener);
  useEffect(() => live.listen((signal) => latest(signal)), []);
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(
    (watcher) => live.watch(watcher),
    () => live.connection,
  );
}
