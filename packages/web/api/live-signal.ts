// Tells the page that something was recorded. What is shown is then asked for again: the page folds no events.
import { API_STREAM_PROTOCOL, type EventType, PAGE_TOKEN_PROTOCOL } from '@subluminal/contracts';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { LEDGER_PATHS } from './endpoint-paths.ts';
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
  /** Anything may have changed: the stream has just opened, or more calls have changed than are named. */
  readonly isAll: boolean;
}

/** Whether an event of one of these types may have been recorded. */
export function tellsOf({ types, isAll }: Signal, ...wanted: readonly EventType[]): boolean {
  return isAll || wanted.some((type) => types.has(type));
}

export type StreamState = 'connecting' | 'open' | 'lost';

const GATHER_MS = 80;
const RETRY_MS = { first: 500, max: 3_000 };
const CALLS_MAX = 200;

class LiveSignal {
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #watchers = new Set<() => void>();
  #socket: WebSocket | undefined;
  #connection: StreamState = 'connecting';
  #retryMs = RETRY_MS.first;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #gather: ReturnType<typeof setTimeout> | undefined;
  #calls = new Map<string, ChangedCall>();
  #types = new Set<string>();
  #isAll = false;

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
    const scheme = protocol === 'https:' ? 'wss' : 'ws';
    const target = `${scheme}://${host}${LEDGER_PATHS.stream.path}`;
    const socket = new WebSocket(target, [API_STREAM_PROTOCOL, PAGE_TOKEN_PROTOCOL + pageToken()]);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#retryMs = RETRY_MS.first;
      this.#say('open');
      // What came before is not announced.
      this.#isAll = true;
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
    const { type, runId, callId } = readMessage(text);
    this.#types.add(type);
    if (callId !== '') this.#calls.set(`${runId} ${callId}`, { runId, callId });
    if (this.#calls.size > CALLS_MAX) {
      this.#calls.clear();
      this.#isAll = true;
    }
    this.#gatherSoon();
  }

  #gatherSoon(): void {
    if (this.#gather !== undefined) return;
    this.#gather = setTimeout(() => {
      this.#gather = undefined;
      const calls = [...this.#calls.values()];
      const signal = { calls, types: this.#types, isAll: this.#isAll };
      this.#calls = new Map();
      this.#types = new Set();
      this.#isAll = false;
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
function readMessage(text: string): NamedEvent {
  const message: unknown = JSON.parse(text);
  const { event } = fields(message);
  const { type, run_id, call } = fields(event);
  const { call_id } = fields(call);
  return { type: word(type), runId: word(run_id), callId: word(call_id) };
}

function fields(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const live = new LiveSignal();

/** Calls the listener whenever something was recorded: a dozen times a second at most, or as seldom as it wants. */
export function useLiveSignal(listener: (signal: Signal) => void, everyMs = 0): void {
  const latest = useEffectEvent(listener);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waiting: Signal | undefined;
    const stop = live.listen((signal) => {
      if (everyMs === 0) return latest(signal);
      waiting = waiting === undefined ? signal : joinedSignals(waiting, signal);
      timer ??= setTimeout(() => {
        const all = waiting;
        [timer, waiting] = [undefined, undefined];
        if (all !== undefined) latest(all);
      }, everyMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [everyMs]);
}

export function joinedSignals(one: Signal, other: Signal): Signal {
  const calls = [...one.calls, ...other.calls];
  const isAll = one.isAll || other.isAll || calls.length > CALLS_MAX;
  return { calls: isAll ? [] : calls, types: new Set([...one.types, ...other.types]), isAll };
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(
    (watcher) => live.watch(watcher),
    () => live.connection,
  );
}
