// Takes shims out of a config of which there is no record, as when the home was lost: an entry that
// starts a shim tells itself what it was before.

import { readDocument } from '../text/document.ts';
import type { ConfigFile, ConfigProblem, EntryChange, EntryValues, ValuePath } from '../types.ts';
import { draftPath, readConfigFile } from './config-file.ts';
import { takeLock } from './lock.ts';
import type { Store } from './ports.ts';
import { problem } from './problem.ts';
import { digestOf, readRecord, writeRecord } from './record.ts';
import type { ConfigRecord } from './record-text.ts';
import { type RestoreRequest, type RestoreResult, restoreRecord } from './restore.ts';
import { type EntryPlace, takeOut } from './take-out.ts';

export interface ReleaseRequest extends Omit<RestoreRequest, 'path'> {
  readonly file: ConfigFile;
  /** The entries to be set free. */
  readonly entries: (text: string) => readonly EntryPlace[] | ConfigProblem;
}

/** Writes the record that is missing, then restores by it: so a kill leaves nothing half done. */
export function releaseConfig(request: ReleaseRequest): RestoreResult {
  const { path } = request.file;
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none', path };
  if (config.kind === 'problem') return config;
  const lock = request.lock ?? takeLock(config.target, request);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'problem') return lock;
  try {
    const known = readRecord(lock.key, request.paths);
    const found = known.kind === 'none' ? recorded(request, lock.key) : known;
    if (found.kind === 'problem') return found;
    if (found.kind === 'none') return { kind: 'none', path };
    return restoreRecord(found, { ...request, lock });
  } finally {
    if (request.lock === undefined) lock.release();
  }
}

function recorded({ file, entries, ...store }: ReleaseRequest, key: string) {
  const { path } = file;
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none' as const };
  if (config.kind === 'problem') return config;
  const places = entries(config.text);
  if ('kind' in places) return places;
  const ways = places.map((place) => ({ ...place, pairs: [] }));
  const out = takeOut({ text: config.text, format: file.format, ways });
  if (out.kind === 'refused') {
    return problem(path, `The shims cannot be taken out of ${path}: ${out.why}`, out.fix);
  }
  if (out.text === config.text) return { kind: 'none' as const };
  const change = { file, before: out.text, after: config.text, places: out.taken };
  const record = recordOf(change, config.target, store);
  const failed = writeRecord({ key, record, base: Buffer.from(out.text) }, store);
  return failed ?? { kind: 'record' as const, key, record };
}

interface Found {
  readonly file: ConfigFile;
  readonly before: string;
  readonly after: string;
  readonly places: readonly EntryPlace[];
}

/** As if the change had been ours from the start. */
function recordOf(found: Found, target: string, { ports }: Store): ConfigRecord {
  const { client, path, format } = found.file;
  return {
    v: 1,
    kind: 'import',
    client,
    path,
    target,
    format,
    created_at: ports.now().toISOString(),
    base: digestOf(Buffer.from(found.before), ports),
    after: digestOf(Buffer.from(found.after), ports),
    changes: changesOf(found),
    draft: draftPath(target, ports.uuid()),
  };
}

function changesOf({ file: { format }, before, after, places }: Found): readonly EntryChange[] {
  const inside = places.flatMap(({ at }) => [at.command, at.args]);
  const was = readDocument(before, format, inside);
  const is = readDocument(after, format, inside);
  if (was.kind === 'broken' || is.kind === 'broken') return [];
  return places.flatMap((place) => {
    const values = [was, is].map(({ document }) => valuesAt(document, place));
    const [old, now] = values;
    return old === undefined || now === undefined ? [] : [{ ...place, before: old, after: now }];
  });
}

type Document = Extract<ReturnType<typeof readDocument>, { kind: 'document' }>['document'];

function valuesAt(document: Document, { at }: EntryPlace): EntryValues | undefined {
  const command = writtenAt(document, at.command);
  return command === undefined
    ? undefined
    : { command, args: writtenAt(document, at.args) ?? null };
}

function writtenAt(document: Document, path: ValuePath) {
  const [value, span] = [document.valueAt(path), document.spanAt(path)];
  if (span === undefined || (typeof value !== 'string' && !isWords(value))) return undefined;
  return { value, text: document.text.slice(span.start, span.end) };
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
