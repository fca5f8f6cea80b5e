// Where the events of a run go: one file that all of its shims append to, the ledger, or nowhere.
import { appendFileSync, closeSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileSink, ledgerSink, offSink, type PromptSink } from '../../sink/index.ts';
import { EVENTS_FILE } from './bundle-folder.ts';
import { transitPathOf } from './hub-socket.ts';
import { NEWLINE } from './lines.ts';
import { type Refused, type RunOptions, refused, type TracePlace } from './options.ts';

interface Trace {
  readonly kind: 'trace';
  readonly sink: PromptSink;
  readonly place: TracePlace;
  /** The events of the run, and whatever else was written behind the place. */
  readonly file?: { readonly path: string; readonly fromByte: number };
  /** What the shims are told; undefined where the configuration says it already. */
  readonly eventsPath: string | undefined;
  /** Removes what nobody asked for. */
  release(): void;
}

interface Wanted {
  readonly path: string;
  readonly place: TracePlace;
  readonly isTold: boolean;
  readonly isTransit: boolean;
}

function openTrace(options: RunOptions, runId: string, shimId: string): Trace | Refused {
  const { config, paths } = options;
  const file = wantedFile(options, runId);
  if (file !== undefined) return fileTrace(file, config['limits.queue_bytes']);
  const rest = { kind: 'trace', eventsPath: undefined, release: () => {} } as const;
  if (config['events.sink'].kind === 'off') {
    return { ...rest, sink: offSink(), place: { kind: 'none' } };
  }
  const sink = ledgerSink({
    socketPath: config['ledger.socket'],
    spoolDir: paths.spool,
    producer: shimId,
    limits: { queueBytes: config['limits.queue_bytes'] },
    warn: options.tell,
  });
  return { ...rest, sink, place: { kind: 'ledger' } };
}

/** The file that was asked for, or the one that what was asked for needs. */
function wantedFile({ events, bundle, config, paths }: RunOptions, runId: string) {
  const told = { isTold: true, isTransit: false };
  if (events.file !== undefined) {
    const place: TracePlace = { kind: 'file', path: events.file };
    return { ...told, path: events.file, place } satisfies Wanted;
  }
  if (bundle !== undefined) {
    const path = join(bundle.dir, EVENTS_FILE);
    return { ...told, path, place: { kind: 'bundle', path: bundle.dir } } satisfies Wanted;
  }
  if (events.follow !== undefined) {
    const path = transitPathOf(paths.run, runId);
    return { path, place: { kind: 'none' }, isTold: true, isTransit: true } satisfies Wanted;
  }
  const sink = config['events.sink'];
  if (sink.kind !== 'file') return undefined;
  const { path } = sink;
  return { path, place: { kind: 'file', path }, isTold: false, isTransit: false } satisfies Wanted;
}

function fileTrace(wanted: Wanted, queueBytes: number): Trace | Refused {
  const { path, place } = wanted;
  const stats = statOf(path);
  if (stats !== undefined && !stats.isFile()) {
    const message = `events cannot be written to ${path}: it is no file.`;
    return refused('SUB_FILE_WRITE', message, 'Name a file; `--events -` prints them.');
  }
  const opened = fileSink(path, { queueBytes });
  if (!opened.ok) return refused(opened.code, opened.message, opened.fix);
  if (stats !== undefined) endLastLine(path, stats.size);
  return {
    kind: 'trace',
    sink: opened.sink,
    place,
    file: { path, fromByte: stats?.size ?? 0 },
    eventsPath: wanted.isTold ? path : undefined,
    release: () => {
      if (wanted.isTransit) rmSync(path, { force: true });
    },
  };
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Opening it says what is wrong.
    return undefined;
  }
}

/** A writer that was killed may have left half a line; ours must not become its other half. */
function endLastLine(path: string, size: number): void {
  if (size === 0) return;
  const last = Buffer.alloc(1);
  try {
    const fd = openSync(path, 'r');
    try {
      readSync(fd, last, 0, 1, size - 1);
    } finally {
      closeSync(fd);
    }
  } catch {
    // It may be written but not read: then nobody knows, and an empty line harms nobody.
  }
  if (last[0] !== NEWLINE) appendFileSync(path, '\n');
}

export type { Trace };
export { openTrace };
