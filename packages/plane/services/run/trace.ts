// Where the events of a run go: one file that all of its shims append to, the ledger, or nowhere.

import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import {
  attempt,
  codeOrText,
  isAnswered,
  makeFolders,
  openForAppending,
  refuseLink,
} from '../../os/index.ts';
import type { Config } from '../../stores/config/index.ts';
import { transitPathOf } from '../../stores/runs/hub-socket.ts';
import { type BatchingSink, fileSink, ledgerSink, offSink } from '../sink/index.ts';

import type { RunOptions, TracePlace } from './options.ts';

export interface Trace {
  readonly sink: BatchingSink;
  readonly place: TracePlace;
  /** The events of the run, and whatever else was written behind the place. */
  readonly file?: { readonly path: string; readonly fromByte: number };
  /** What the shims are told; undefined where the configuration says it already. */
  readonly eventsPath: string | undefined;
  /** Puts the first line on record, before anybody else has a chance to. False when nothing takes it. */
  begin(line: string): Promise<boolean>;
  /** Some of our own lines are nowhere, because nothing takes them. */
  isLossy(): boolean;
  /** Removes what nobody asked for. */
  release(): void;
}

const NEWLINE = 0x0a;
/** A ledger that listens answers at once; where none does, the spool has the line. */
const BEGIN_MS = 1_000;

interface TraceFile {
  readonly path: string;
  readonly place: TracePlace;
  /** The shims are told of it; else the configuration names it already. */
  readonly isTold?: boolean;
  /** It is removed with the end of the run. */
  readonly isTransit?: boolean;
}

export function openTrace(options: RunOptions, runId: string): Trace | Failure {
  const { config } = options;
  const file = wantedFile(options, runId);
  if (file !== undefined) return fileTrace(file, options);
  if (config['events.sink'].kind === 'ledger') return ledgerTrace(options);
  return {
    sink: offSink(),
    place: { kind: 'none' },
    eventsPath: undefined,
    begin: () => Promise.resolve(true),
    isLossy: () => false,
    release: () => {},
  };
}

function ledgerTrace({ config, paths, tell }: RunOptions): Trace {
  let hasComplained = false;
  const open = () =>
    ledgerSink({
      socketPath: config['ledger.socket'],
      spoolDir: paths.spool,
      // A name that the agent does not know: it may reach the same socket.
      producer: uuidv7(),
      limits: { queueBytes: config['limits.queue_bytes'] },
      warn: (text) => {
        if (!hasComplained) tell(text);
        hasComplained = true;
      },
    });
  const sink = open();
  const sinks = [sink];
  const lacks = (one: BatchingSink): boolean => {
    const { linesLost, queued } = one.stats();
    return linesLost > 0 || (hasComplained && queued > 0);
  };
  return {
    sink,
    place: { kind: 'ledger' },
    eventsPath: undefined,
    async begin(line) {
      // By a sink of its own, which is closed: the ledger has the line then, or finds a complete
      // file of the spool, and takes that before the first shim comes.
      const first = open();
      sinks.push(first);
      first.write({ line, kind: 'durable' });
      first.push();
      await first.close(BEGIN_MS);
      return !lacks(first);
    },
    isLossy: () => sinks.some(lacks),
    release: () => {},
  };
}

/** Where the shims of the run send their events. */
export function sinkOfRun(options: RunOptions, runId: string): Config['events.sink'] {
  const file = wantedFile(options, runId);
  return file === undefined ? options.config['events.sink'] : { kind: 'file', path: file.path };
}

/** The file that was asked for, or that a bundle or a follower needs. */
function wantedFile(
  { events, bundle, config, paths }: RunOptions,
  runId: string,
): TraceFile | undefined {
  if (events.file !== undefined) {
    return { path: events.file, place: { kind: 'file', path: events.file }, isTold: true };
  }
  if (bundle !== undefined) {
    const path = join(bundle.dir, EVENTS_FILE);
    return { path, place: { kind: 'bundle', path: bundle.dir }, isTold: true };
  }
  if (events.follow !== undefined) {
    const path = transitPathOf(paths.run, runId);
    return { path, place: { kind: 'none' }, isTold: true, isTransit: true };
  }
  const sink = config['events.sink'];
  if (sink.kind !== 'file') return undefined;
  return { path: sink.path, place: { kind: 'file', path: sink.path } };
}

function fileTrace(wanted: TraceFile, { config, tell }: RunOptions): Trace | Failure {
  const { path, place } = wanted;
  // Where this fails, opening the file says what is wrong.
  const stats = attempt(() => statSync(path, { throwIfNoEntry: false }));
  if (stats !== undefined && !stats.isFile()) {
    const message = `events cannot be written to ${path}: it is no file.`;
    return failure('SUB_FILE_WRITE', message, 'Name a file; `--events -` prints them.');
  }
  let hasComplained = false;
  const warn = (text: string): void => {
    hasComplained = true;
    tell(text);
  };
  const sink = fileSink(path, { queueBytes: config['limits.queue_bytes'], warn });
  if (isFailure(sink)) return sink;
  if (stats !== undefined) endLastLine(path);
  return {
    sink,
    place,
    file: { path, fromByte: stats?.size ?? 0 },
    eventsPath: wanted.isTold ? path : undefined,
    begin(line) {
      sink.write({ line, kind: 'durable' });
      sink.push();
      return Promise.resolve(!hasComplained);
    },
    isLossy: () => hasComplained,
    release: () => {
      if (wanted.isTransit) rmSync(path, { force: true });
    },
  };
}

/**
 * Ends the last line of a file: a writer that was killed, or a full disk, may have left half a line, and
 * ours must not become its other half.
 */
export function endLastLine(path: string): void {
  // A file that may be written but not read gets a newline, too: an empty line harms nobody.
  if (attempt(() => endsWithLine(path)) === true) return;
  // Where this fails, the sink says what is wrong, and the end of the run checks for our line.
  attempt(() => {
    const fd = openForAppending(path, 0o600);
    try {
      writeSync(fd, '\n');
    } finally {
      closeSync(fd);
    }
  });
}

function endsWithLine(path: string): boolean {
  const fd = openSync(path, 'r');
  try {
    const last = Buffer.alloc(1);
    const { size } = fstatSync(fd);
    return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE);
  } finally {
    closeSync(fd);
  }
}

export const EVENTS_FILE = 'events.jsonl';
const FILES = [EVENTS_FILE, 'policy.json', 'summary.json', 'summary.md'] as const;

/** Makes the folder of a bundle before the agent starts. An older bundle stays unless forced. */
export function prepareBundle(dir: string, force: boolean): Failure | undefined {
  const taken = FILES.find((name) => existsSync(join(dir, name)));
  if (taken !== undefined && !force) {
    const message = `${join(dir, taken)} exists already, and is not overwritten.`;
    return failure('SUB_FILE_WRITE', message, 'Choose another folder, or add --force.');
  }
  try {
    refuseLink(dir);
    makeFolders(dir);
    for (const name of FILES) rmSync(join(dir, name), { force: true });
    return undefined;
  } catch (cause) {
    const code = codeOrText(cause);
    if (code === 'ELOOP') {
      const message = `${dir} is a link, and nothing is written through one.`;
      return failure('SUB_FILE_WRITE', message, 'Name the folder itself.');
    }
    const message = `the folder ${dir} cannot be made (${code}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the path and its permissions.');
  }
}

/** Starts the ledger unless it answers. */
export async function wakeLedger({ env, paths, config }: RunOptions): Promise<void> {
  // One that is busy need not say more: the second of a home would end again.
  if (await isAnswered(config['ledger.socket'])) return;
  const { startLedgerd } = await import('../daemon/start.ts');
  startLedgerd({ env, paths, config });
}
