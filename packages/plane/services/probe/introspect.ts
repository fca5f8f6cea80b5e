// Starts a server, asks it what it offers, and ends it: nothing of it is left when this is over.
import { readChunks, type StopReason, supervise } from '../transports/stdio/index.ts';
import { converse } from './converse.ts';
import { createDialogue } from './dialogue.ts';
import type { Seen } from './seen.ts';
import { type ServerTask, startServer } from './start-server.ts';

interface IntrospectOptions extends ServerTask {
  readonly timeoutMs: number;
  /** Of `sub`, which is the client here. */
  readonly version: string;
}

export type Introspected =
  | { readonly kind: 'seen'; readonly seen: Seen }
  | {
      readonly kind: 'failed';
      /** As the end of a sentence about the server. */
      readonly why: string;
      /** It could not be started, was over too early, or did not say what was asked. */
      readonly stage: 'start' | 'ended' | 'talk';
      /** The last of its standard error. */
      readonly said: string;
    }
  | { readonly kind: 'interrupted'; readonly exitCode: number };

const ENDING = { graceMs: 1_000, termMs: 1_000, killMs: 5_000, drainMs: 500 };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function introspect(options: IntrospectOptions): Promise<Introspected> {
  const started = await startServer(options);
  if (started.kind === 'failed') return { ...started, stage: 'start', said: '' };
  const { server, said } = started;
  const giveBack = keepSignals();
  const dialogue = createDialogue((text) => void server.stdin.write(text));
  const supervisor = supervise({
    server,
    ...ENDING,
    onStop: (reason) => dialogue.end(stopWords(reason)),
  });
  const { timeoutMs, version } = options;
  const late = `has not told all within ${timeoutMs / 1_000} s`;
  const timer = setTimeout(() => dialogue.end(late), timeoutMs);
  readChunks(server.stdout, { chunk: (chunk) => dialogue.feed(chunk), end: () => {} });
  const conversed = await converse(dialogue, version);
  clearTimeout(timer);
  supervisor.stop({ kind: 'asked', exitCode: 0 });
  const { reason, exitCode } = await supervisor.done;
  giveBack();
  if (reason.kind === 'signal') return { kind: 'interrupted', exitCode };
  if (conversed.kind === 'seen') return conversed;
  return { ...conversed, stage: reason.kind === 'server_ended' ? 'ended' : 'talk', said: said() };
}

function stopWords({ kind }: StopReason): string {
  return kind === 'server_ended' ? 'has ended by itself' : 'has closed its output';
}

/** The supervisor listens for as long as a shim lives; a command has a life after it. */
function keepSignals(): () => void {
  const before = SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))] as const);
  return () => {
    for (const [signal, known] of before) {
      const added = process.listeners(signal).filter((listener) => !known.has(listener));
      for (const listener of added) process.off(signal, listener);
    }
  };
}
