// Secrets of the store on their way back into a config.

import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import { openVault, type VaultOptions } from '../../../stores/vault/index.ts';
import {
  type ConfigFailure,
  clientOf,
  type Format,
  type MovedSecret,
  type ServerEntry,
  type ValuePath,
} from '../index.ts';
import { configFailure, sha256 } from '../store/change-store.ts';

import type { ConfigRecord } from '../store/record-text.ts';
import { matchesDigest } from '../store/records.ts';
import { removeShims } from '../store/undo-changes.ts';
import { type ConfigDocument, readDocument } from '../text/document.ts';
import { isFilled, uncutAll } from './cut-values.ts';
import { putAll, putInto } from './put-back.ts';

export type PutBack = (text: string, record: ConfigRecord) => string | ConfigFailure;

/** A config with its secrets. */
interface FilledConfig {
  readonly kind: 'filled';
  readonly text: string;
  /** Those that are in it again. */
  readonly put: readonly MovedSecret[];
  /** Those whose server is gone: they are in the store alone. */
  readonly lost: readonly MovedSecret[];
  /** Those whose entry starts something else by now: it is left without them. */
  readonly withheld: readonly MovedSecret[];
  /** The servers that stand there under another name, and start without a shim now. */
  readonly renamed: ReadonlyMap<string, readonly string[]>;
}

/** By functions alone, so that no dump shows a value. */
export interface Returning {
  readonly kind: 'returning';
  readonly fill: (text: string, record: ConfigRecord) => FilledConfig | ConfigFailure;
  /** The names of those that have another value than when they were moved. */
  readonly rotated: readonly string[];
}

interface ReturnFrom {
  readonly vault: VaultOptions;
  /** The config as the record has it: without our edits, and without the secrets. */
  readonly baseText: string;
}

/** Opens the store for the secrets of one record; refuses when one of them is gone. */
export async function returning(
  { path, moved = [], created_at: changedAt }: ConfigRecord,
  { vault: options, baseText }: ReturnFrom,
): Promise<Returning | Failure> {
  const vault = await openVault(options);
  if (isFailure(vault)) return unopened(path, vault);
  const values = new Map<string, string>();
  try {
    for (const { secret } of moved) {
      const value = vault?.value(secret);
      if (isFailure(value)) return unopened(path, value);
      if (value === undefined) return gone(path, secret);
      values.set(secret, value);
    }
  } finally {
    vault?.close();
  }
  const since = new Map(moved.map((one) => [one.secret, one.moved_at ?? changedAt]));
  const rotated = (vault?.secrets ?? []).flatMap(({ name, addedAt, rotatedAt }) =>
    Date.parse(rotatedAt ?? addedAt) > Date.parse(since.get(name) ?? '') ? [name] : [],
  );
  const fill: Returning['fill'] = (text, record) => filled(text, { record, values, baseText });
  return { kind: 'returning', fill, rotated };
}

function unopened(path: string, { code, message, fix }: Failure): Failure {
  return failure(code, `${path} cannot be put back, its secrets are in the store: ${message}`, fix);
}

function gone(path: string, secret: string): Failure {
  const message = `${path} cannot be put back: the store has no secret \`${secret}\` any more.`;
  const fix = `Store it again with \`sub secrets add ${secret}\`, then restore.`;
  return failure('SUB_SECRET_UNKNOWN', message, fix);
}

interface FillOptions {
  readonly record: ConfigRecord;
  readonly values: ReadonlyMap<string, string>;
  readonly baseText: string;
}

/** A secret on its way back. */
interface ReturningSecret {
  readonly one: MovedSecret;
  readonly value: string;
}

/** Into the very text they were cut out of, to the byte; into any other, where they belong. */
function filled(
  text: string,
  { record, values, baseText }: FillOptions,
): FilledConfig | ConfigFailure {
  const { path, moved = [], base, format } = record;
  const changed = configFailure(path, `The record of ${path} has just changed.`, 'Try again.');
  if (!matchesDigest(base, Buffer.from(baseText))) return changed;
  const all: ReturningSecret[] = [];
  for (const one of moved) {
    const value = values.get(one.secret);
    if (value === undefined) return changed;
    all.push({ one, value });
  }
  const starts = recordedStarts({ baseText, format, moved });
  const isBase =
    matchesDigest(base, Buffer.from(text)) &&
    moved.every((one) => starts.compare(text, one) !== 'other');
  const exact = isBase ? exactly(text, all, record.format) : undefined;
  if (exact === undefined) return belonging(text, all, { record, put: [], starts });
  const { count } = exact;
  const put = all.slice(all.length - count).map(({ one }) => one);
  return belonging(exact.text, all.slice(0, all.length - count), { record, put, starts });
}

/**
 * The last ones, as far as it is known how they stood there. Undefined when that does not give the
 * text with its values: one that was rotated since may be longer, and move the places of others.
 */
function exactly(
  text: string,
  all: readonly ReturningSecret[],
  format: ConfigRecord['format'],
): { readonly text: string; readonly count: number } | undefined {
  const first = all.findLastIndex(({ one }) => one.cut === undefined) + 1;
  const coming = all.slice(first);
  const cuts = coming.flatMap(({ one: { cut }, value }) =>
    cut === undefined ? [] : [{ cut, value }],
  );
  const next = uncutAll(text, cuts, format);
  const targets = coming.map(({ one, value }) => ({ path: one.path, value }));
  if (!isFilled([text, next], format, targets)) return undefined;
  return { text: next, count: coming.length };
}

interface ReturnContext {
  readonly record: ConfigRecord;
  /** Those that are in it by now. */
  readonly put: MovedSecret[];
  readonly starts: RecordedStarts;
}

function belonging(
  text: string,
  all: readonly ReturningSecret[],
  { record, put, starts }: ReturnContext,
): FilledConfig | ConfigFailure {
  const { path, format } = record;
  const lost: MovedSecret[] = [];
  const renamed = new Map<string, readonly RenamedEntry[]>();
  const withheld = all.map(({ one }) => one).filter((one) => starts.compare(text, one) === 'other');
  const coming = all
    .filter(({ one }) => !withheld.includes(one))
    .toReversed()
    .map((each) => ({ ...each, path: each.one.path }));
  const most = putAll(text, coming, format);
  put.push(...most.put.map(({ one }) => one));
  let next = most.text;
  for (const { one, value } of most.rest) {
    const done = putInto(next, { format, path: one.path, value });
    if (done.kind === 'refused') return noPlace(path, one);
    if (done.kind === 'put') {
      next = done.text;
      put.push(one);
    }
    if (done.kind !== 'gone') continue;
    const free = renamed.has(one.server) ? { text: next } : setFree(next, record, { one, starts });
    if (free === undefined) return noPlace(path, one);
    next = free.text;
    if ('entries' in free) renamed.set(one.server, free.entries);
    const again = intoRenamed(next, { record, one, value, entries: renamed.get(one.server) ?? [] });
    if (typeof again === 'object') return again;
    (again === next ? lost : put).push(one);
    next = again;
  }
  const names = [...renamed].flatMap(([server, entries]) =>
    entries.length === 0 ? [] : [[server, entries.map(({ name }) => name)] as const],
  );
  return { kind: 'filled', text: next, put, lost, withheld, renamed: new Map(names) };
}

interface Renaming {
  readonly record: ConfigRecord;
  readonly one: MovedSecret;
  readonly value: string;
  readonly entries: readonly RenamedEntry[];
}

function intoRenamed(
  text: string,
  { record: { path, format }, one, value, entries }: Renaming,
): string | ConfigFailure {
  let next = text;
  for (const { path: entry } of entries) {
    // Older settings of Zed have the environment beside the path of the command.
    const inside = one.path.at(-3) === 'command' ? ['command'] : [];
    const place = [...entry, ...inside, ...one.path.slice(-2)];
    const put = putInto(next, { format, path: place, value });
    if (put.kind === 'refused') return noPlace(path, one);
    if (put.kind === 'put') next = put.text;
  }
  return next;
}

/**
 * The entries that start the shim of that server under another name, without their shims. One that
 * starts something else behind it stays as it is.
 */
function setFree(
  text: string,
  { client: id, path, format }: ConfigRecord,
  { one, starts }: { readonly one: MovedSecret; readonly starts: RecordedStarts },
): { readonly text: string; readonly entries: readonly RenamedEntry[] } | undefined {
  const client = clientOf(id);
  const read = client.read({ client: client.id, scope: 'user', path, format }, text);
  if (read.kind === 'failure') return undefined;
  const entries = read.entries.filter(
    (entry) => entry.governed?.serverName === one.server && starts.isBehind(text, entry, one),
  );
  const ways = entries.map(({ name, project, at }) => {
    return { name, ...(project !== undefined && { project }), at, pairs: [] };
  });
  const out = removeShims({ text, format, ways });
  return out.kind === 'taken' ? { text: out.text, entries } : undefined;
}

type RenamedEntry = Pick<ServerEntry, 'name' | 'path'>;

function noPlace(path: string, { server, path: place, secret }: MovedSecret): ConfigFailure {
  const message = `There is no safe place in ${path} for ${String(place.at(-1))} of ${server}.`;
  return configFailure(
    path,
    message,
    `Write it there by hand: \`sub secrets get ${secret}\` prints it. Then restore.`,
  );
}

// Whether an entry still starts what it started when its secrets were moved. Whoever can write to the
// config may have put another command there, to be given them in plain text by the next restore.

interface RecordedConfig {
  /** The config without our edits and without the secrets that moved, as the backup has it. */
  readonly baseText: string;
  readonly format: Format;
  readonly moved: readonly MovedSecret[];
}

interface RecordedStarts {
  /** What the entry of a secret starts in a text, beside what it started when that was moved. */
  readonly compare: (text: string, secret: MovedSecret) => 'same' | 'other' | 'gone';
  /** Whether an entry starts the same behind the shim of that server, under another name. */
  readonly isBehind: (text: string, entry: ShimEntry, secret: MovedSecret) => boolean;
}

type ShimEntry = Pick<ServerEntry, 'governed' | 'path'>;

function recordedStarts({ baseText, format, moved }: RecordedConfig): RecordedStarts {
  const paths = moved.map(({ path }) => path);
  const documentOf = (
    text: string,
    more: readonly ValuePath[] = [],
  ): ConfigDocument | undefined => {
    const read = readDocument(text, format, [...paths, ...more]);
    return read.kind === 'document' ? read.document : undefined;
  };
  const base = documentOf(baseText);
  // Records of earlier versions have no digest: then the backup tells.
  const recorded = ({ path, started }: MovedSecret) => started ?? startDigest(base, path);
  // A text may be large, and is asked about once for each secret.
  let last: { readonly text: string; readonly document: ConfigDocument | undefined } | undefined;
  return {
    compare: (text, secret) => {
      if (last?.text !== text) last = { text, document: documentOf(text) };
      const now = startDigest(last.document, secret.path);
      if (now === undefined) return 'gone';
      return now === recorded(secret) ? 'same' : 'other';
    },
    isBehind: (text, { governed, path }, secret) => {
      const start = startIn(documentOf(text, [path]), [...path, 'env', '']);
      if (start === undefined || governed === undefined) return false;
      const behind = digestOf({ ...start, words: governed.command });
      return behind === recorded(secret);
    },
  };
}

interface EntryStart {
  readonly words: readonly unknown[];
  /** What decides which program the words find. */
  readonly where: readonly unknown[];
}

/** Of what an entry starts, to be known again; undefined where there is no such entry. */
export function startDigest(
  document: ConfigDocument | undefined,
  path: ValuePath,
): string | undefined {
  const start = startIn(document, path);
  return start === undefined ? undefined : digestOf(start);
}

function digestOf({ words, where }: EntryStart): string {
  return sha256(JSON.stringify([words, where]));
}

/** The path of a secret ends with `env` and its variable; older settings of Zed have `command` before. */
function startIn(document: ConfigDocument | undefined, path: ValuePath): EntryStart | undefined {
  const holder = path.slice(0, -2);
  const held = document?.valueAt(holder);
  const isInner = holder.at(-1) === 'command' && isObject(held);
  const server = isInner ? document?.valueAt(holder.slice(0, -1)) : held;
  if (!isObject(server)) return undefined;
  const { command, args, cwd, envFile, env } = server;
  const inner = isObject(command) ? command : { path: command, args, env: undefined };
  const words: readonly unknown[] = Array.isArray(inner['args']) ? inner['args'] : [];
  return {
    words: [inner['path'], ...words],
    where: [cwd ?? null, envFile ?? null, searchPaths(env), searchPaths(inner['env'])],
  };
}

function searchPaths(env: unknown): unknown {
  const entries = isObject(env) ? Object.entries(env) : [];
  return entries.filter(([name]) => name.toUpperCase() === 'PATH');
}
