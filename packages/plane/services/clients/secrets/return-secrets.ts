// Puts secrets of the store back into a config.

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
import { type ConfigDocument, documentIn } from '../text/document.ts';
import { isFilled, uncutAll } from './cut-values.ts';
import { putAll, putInto } from './put-back.ts';

export type PutBack = (text: string, record: ConfigRecord) => string | ConfigFailure;

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

/** Holds the values in functions alone, so that no dump shows one. */
export interface Returning {
  readonly kind: 'returning';
  readonly fill: (text: string, record: ConfigRecord) => FilledConfig | ConfigFailure;
  /** The names of those that have another value than when they were moved. */
  readonly rotated: readonly string[];
}

/** Opens the store for the secrets of one record; refuses when one of them is gone. */
export async function returning(
  { path, moved = [], created_at: changedAt }: ConfigRecord,
  options: VaultOptions,
  baseText: string,
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
  const fill: Returning['fill'] = (text, record) => {
    const coming = (record.moved ?? []).map((one) => ({ one, value: values.get(one.secret) }));
    const known = coming.filter(isKnown);
    if (known.length < coming.length || !matchesDigest(record.base, Buffer.from(baseText))) {
      return configFailure(path, `The record of ${path} has just changed.`, 'Try again.');
    }
    return filled(text, known, { record, baseText });
  };
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

interface ReturningSecret {
  readonly one: MovedSecret;
  readonly value: string;
}

function isKnown(coming: {
  readonly one: MovedSecret;
  readonly value: string | undefined;
}): coming is ReturningSecret {
  return coming.value !== undefined;
}

interface RecordedConfig {
  readonly record: ConfigRecord;
  /** The config as the backup has it: without our edits, and without the secrets that moved. */
  readonly baseText: string;
}

/** Into the very text they were cut out of, to the byte; into any other, where they belong. */
function filled(
  text: string,
  all: readonly ReturningSecret[],
  recorded: RecordedConfig,
): FilledConfig | ConfigFailure {
  const { base, format } = recorded.record;
  const withheld = all.map(({ one }) => one).filter((one) => startsOther(text, one, recorded));
  const isBase = withheld.length === 0 && matchesDigest(base, Buffer.from(text));
  const exact = (isBase && exactly(text, all, format)) || { text, count: 0 };
  const rest = all.slice(0, all.length - exact.count);
  const put = all.slice(rest.length).map(({ one }) => one);
  const coming = rest.filter(({ one }) => !withheld.includes(one)).toReversed();
  const done = new SecretPlacing(exact.text, recorded).place(coming);
  return done.kind === 'failure' ? done : { ...done, put: [...put, ...done.put], withheld };
}

/**
 * The last ones, as far as it is known how they stood there. Undefined when that does not give the
 * text with its values: one that was rotated since may be longer, and move the places of others.
 */
function exactly(
  text: string,
  all: readonly ReturningSecret[],
  format: Format,
): { readonly text: string; readonly count: number } | undefined {
  const first = all.findLastIndex(({ one }) => one.cut === undefined) + 1;
  const coming = all.slice(first);
  const cuts = coming.flatMap(({ one: { cut }, value }) => (cut ? [{ cut, value }] : []));
  const next = uncutAll(text, cuts, format);
  const targets = coming.map(({ one, value }) => ({ path: one.path, value }));
  return isFilled([text, next], format, targets) ? { text: next, count: coming.length } : undefined;
}

/** Puts secrets where they belong, in a config that others have changed. */
class SecretPlacing {
  readonly #recorded: RecordedConfig;
  readonly #put: MovedSecret[] = [];
  readonly #lost: MovedSecret[] = [];
  /** By the server: the entries that start its shim under another name, without their shims. */
  readonly #renamed = new Map<string, readonly RenamedEntry[]>();
  #text: string;

  constructor(text: string, recorded: RecordedConfig) {
    this.#text = text;
    this.#recorded = recorded;
  }

  place(coming: readonly ReturningSecret[]): Omit<FilledConfig, 'withheld'> | ConfigFailure {
    const { path, format } = this.#recorded.record;
    const placed = coming.map((each) => ({ ...each, path: each.one.path }));
    const most = putAll(this.#text, placed, format);
    this.#text = most.text;
    this.#put.push(...most.put.map(({ one }) => one));
    for (const { one, value } of most.rest) {
      const done = putInto(this.#text, { format, path: one.path, value });
      const isPlaced =
        done.kind === 'gone' ? this.#placeRenamed(one, value) : done.kind !== 'refused';
      if (!isPlaced) return noPlace(path, one);
      if (done.kind !== 'put') continue;
      this.#text = done.text;
      this.#put.push(one);
    }
    const names = [...this.#renamed].flatMap(([server, entries]) =>
      entries.length === 0 ? [] : [[server, entries.map(({ name }) => name)] as const],
    );
    const [put, lost] = [this.#put, this.#lost];
    return { kind: 'filled', text: this.#text, put, lost, renamed: new Map(names) };
  }

  /** False where there is no safe place for it. */
  #placeRenamed(one: MovedSecret, value: string): boolean {
    const { format } = this.#recorded.record;
    const entries = this.#renamed.get(one.server) ?? this.#setFree(one);
    if (entries === undefined) return false;
    this.#renamed.set(one.server, entries);
    let next = this.#text;
    for (const { path: entry } of entries) {
      // Older settings of Zed have the environment beside the path of the command.
      const inside = one.path.at(-3) === 'command' ? ['command'] : [];
      const place = [...entry, ...inside, ...one.path.slice(-2)];
      const put = putInto(next, { format, path: place, value });
      if (put.kind === 'refused') return false;
      if (put.kind === 'put') next = put.text;
    }
    (next === this.#text ? this.#lost : this.#put).push(one);
    this.#text = next;
    return true;
  }

  /**
   * Takes the shims out of the entries that start the shim of that server under another name. One
   * that starts something else behind it stays as it is.
   */
  #setFree(one: MovedSecret): readonly RenamedEntry[] | undefined {
    const { client: id, path, format } = this.#recorded.record;
    const text = this.#text;
    const read = clientOf(id).read({ client: id, scope: 'user', path, format }, text);
    if (read.kind === 'failure') return undefined;
    const entries = read.entries.filter((entry) => this.#startsBehindShim(entry, one));
    const out = removeShims({
      text,
      format,
      ways: entries.map((entry) => ({ ...entry, pairs: [] })),
    });
    if (out.kind === 'refused') return undefined;
    this.#text = out.text;
    return entries;
  }

  #startsBehindShim({ governed, path }: ServerEntry, secret: MovedSecret): boolean {
    if (governed?.serverName !== secret.server) return false;
    const document = documentOf(this.#text, this.#recorded, [path]);
    const start = startIn(document, [...path, 'env', '']);
    if (start === undefined) return false;
    const behind = digestOf({ ...start, words: governed.command });
    return behind === recordedStart(secret, this.#recorded);
  }
}

type RenamedEntry = Pick<ServerEntry, 'name' | 'path'>;

function noPlace(path: string, { server, path: place, secret }: MovedSecret): ConfigFailure {
  const message = `There is no safe place in ${path} for ${String(place.at(-1))} of ${server}.`;
  const fix = `Write it there by hand: \`sub secrets get ${secret}\` prints it. Then restore.`;
  return configFailure(path, message, fix);
}

// Whether an entry still starts what it started when its secrets were moved. Another command may have
// been put there, to be given them in plain text by the next restore.

/** Whether the entry of a secret starts something else by now; an entry that is gone starts nothing. */
function startsOther(text: string, secret: MovedSecret, recorded: RecordedConfig): boolean {
  const now = startDigest(documentOf(text, recorded), secret.path);
  return now !== undefined && now !== recordedStart(secret, recorded);
}

/** Records of earlier versions have no digest: then the backup tells. */
function recordedStart({ path, started }: MovedSecret, recorded: RecordedConfig) {
  return started ?? startDigest(documentOf(recorded.baseText, recorded), path);
}

function documentOf(
  text: string,
  { record: { format, moved = [] } }: RecordedConfig,
  more: readonly ValuePath[] = [],
): ConfigDocument | undefined {
  return documentIn(text, format, [...moved.map(({ path }) => path), ...more]);
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

/**
 * The path of a secret ends with `env` and its variable, or with the headers and one of them; older settings of
 * Zed have `command` before.
 */
function startIn(document: ConfigDocument | undefined, path: ValuePath): EntryStart | undefined {
  const holder = path.slice(0, -2);
  const held = document?.valueAt(holder);
  const isInner = holder.at(-1) === 'command' && isObject(held);
  const server = isInner ? document?.valueAt(holder.slice(0, -1)) : held;
  if (!isObject(server)) return undefined;
  const { command, args, cwd, envFile, env } = server;
  if (command === undefined) {
    const addresses = ['url', 'serverUrl', 'httpUrl'].map((key) => server[key] ?? null);
    return { words: addresses, where: [] };
  }
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
