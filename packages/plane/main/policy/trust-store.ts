// The policies of projects that the user has trusted, by their real path and the hash of their
// content: one file of the home. A policy that has changed is not trusted any more.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { readRegularFile } from '../../os/index.ts';
import { takeLock } from '../../surface/lock.ts';
import {
  dropDrafts,
  makeFolders,
  openToOthers,
  replaceOwn,
  systemCode,
} from '../../surface/own-file.ts';

const TRUST_FILE = 'trust.json';
const FILE_BYTES_MAX = 4_194_304;
const ENTRIES_MAX = 1_000;
const PATH_LENGTH_MAX = 4_096;
const HASH = /^[0-9a-f]{64}$/;

interface TrustEntry {
  /** The real path of the policy. */
  readonly path: string;
  readonly sha256: string;
  readonly trusted_at: string;
}

type OpenedTrust =
  | { readonly ok: true; readonly trusted: readonly TrustEntry[] }
  | { readonly ok: false; readonly message: string };

type SavedTrust =
  | { readonly ok: true; readonly changed: boolean }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const DAMAGED_FIX = 'Remove the file, and trust the policies again with `sub trust`.';

/** No file: nothing is trusted. A file that somebody else may have written proves nothing. */
function openTrust(home: string): OpenedTrust {
  const path = join(home, TRUST_FILE);
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX, noFollow: true });
  if (read.kind === 'missing') return { ok: true, trusted: [] };
  if (read.kind === 'unreadable') return { ok: false, message: `${path} ${read.why}` };
  const open = openToOthers(read.stats);
  if (open !== undefined) return { ok: false, message: `${path} ${open}` };
  const trusted = entriesIn(jsonIn(read.bytes));
  if (trusted !== undefined) return { ok: true, trusted };
  return { ok: false, message: `${path} is not as Subluminal wrote it` };
}

/** Undefined where anything in it is not as it should be. */
function entriesIn(store: unknown): readonly TrustEntry[] | undefined {
  if (!isObject(store) || store['version'] !== 1) return undefined;
  const list: unknown = store['trusted'];
  if (!Array.isArray(list) || list.length > ENTRIES_MAX) return undefined;
  const entries = list.flatMap((item: unknown) => entryIn(item));
  return entries.length === list.length ? entries : undefined;
}

function entryIn(item: unknown): readonly TrustEntry[] {
  if (!isObject(item)) return [];
  const { path, sha256, trusted_at } = item;
  if (typeof path !== 'string' || path.length > PATH_LENGTH_MAX) return [];
  if (typeof sha256 !== 'string' || !HASH.test(sha256)) return [];
  return typeof trusted_at === 'string' ? [{ path, sha256, trusted_at }] : [];
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Whether exactly this content was trusted at this path. */
function isTrusted(home: string, path: string, sha256: string): boolean {
  const opened = openTrust(home);
  if (!opened.ok) return false;
  const real = realPath(path);
  return opened.trusted.some((entry) => entry.path === real && entry.sha256 === sha256);
}

/** Trusts this content; what was trusted at the same path before is not any more. */
function trustPolicy(
  home: string,
  { path, sha256 }: Pick<TrustEntry, 'path' | 'sha256'>,
  nowMs: number,
): Promise<SavedTrust> {
  const entry = { path: realPath(path), sha256, trusted_at: new Date(nowMs).toISOString() };
  return changeTrust(home, (trusted) => [...without(trusted, entry.path), entry]);
}

/** `changed` is false when it was not trusted. */
function revokeTrust(home: string, path: string): Promise<SavedTrust> {
  return changeTrust(home, (trusted) => without(trusted, realPath(path), path));
}

function without(trusted: readonly TrustEntry[], ...paths: readonly string[]) {
  const rest = trusted.filter(({ path }) => !paths.includes(path));
  return rest.length === trusted.length ? trusted : rest;
}

async function changeTrust(
  home: string,
  change: (trusted: readonly TrustEntry[]) => readonly TrustEntry[],
): Promise<SavedTrust> {
  const run = join(home, 'run');
  try {
    makeFolders(run);
    const lock = await takeLock(run);
    if (lock.kind === 'busy') {
      const message = `another process (${lock.pid}) is changing what is remembered in ${home}`;
      return { ok: false, message, fix: 'Wait for it to end, and try again.' };
    }
    try {
      return changeLocked(home, change);
    } finally {
      lock.release();
    }
  } catch (cause) {
    const message = `${join(home, TRUST_FILE)} cannot be written (${systemCode(cause)})`;
    return {
      ok: false,
      message,
      fix: 'Check the folder, its permissions and the space on its disk.',
    };
  }
}

function changeLocked(
  home: string,
  change: (trusted: readonly TrustEntry[]) => readonly TrustEntry[],
): SavedTrust {
  dropDrafts(home, TRUST_FILE);
  const opened = openTrust(home);
  if (!opened.ok) return { ok: false, message: opened.message, fix: DAMAGED_FIX };
  const trusted = change(opened.trusted);
  if (trusted === opened.trusted) return { ok: true, changed: false };
  if (trusted.length > ENTRIES_MAX) {
    const message = `more than ${ENTRIES_MAX} policies would be trusted`;
    return { ok: false, message, fix: 'Revoke some of them: `sub trust revoke PATH`.' };
  }
  const text = `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`;
  replaceOwn(join(home, TRUST_FILE), text);
  return { ok: true, changed: true };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export type { OpenedTrust, SavedTrust, TrustEntry };
export { isTrusted, openTrust, revokeTrust, trustPolicy };
