// The policies of projects that the user has trusted, by their real path and the hash of their
// content: one file of the home, signed with its key: an edit by somebody without the key is not
// believed. A policy that has changed is not trusted any more.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { homeSeal, type Signature } from '../../os/crypto/index.ts';
import {
  readPrivateFile,
  removeDrafts,
  systemCode,
  withLock,
  writePrivateFile,
} from '../../os/index.ts';

const TRUST_FILE = 'trust.json';
const FILE_BYTES_MAX = 4_194_304;
const ENTRIES_MAX = 1_000;
const PATH_LENGTH_MAX = 4_096;
const HASH = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[A-Za-z0-9+/=]{88}$/;

export interface TrustEntry {
  /** The real path of the policy. */
  readonly path: string;
  readonly sha256: string;
  readonly trusted_at: string;
}

export type OpenedTrust =
  | { readonly ok: true; readonly trusted: readonly TrustEntry[] }
  | TrustProblem;

export type SavedTrust = { readonly ok: true; readonly changed: boolean } | TrustProblem;

/** The message ends without a full stop, the fix with one. */
interface TrustProblem {
  readonly ok: false;
  readonly message: string;
  readonly fix: string;
}

/** No file: nothing is trusted. A file that somebody else may have written proves nothing. */
export function openTrust(home: string): OpenedTrust {
  const path = join(home, TRUST_FILE);
  const read = readPrivateFile(path, { bytesMax: FILE_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return { ok: true, trusted: [] };
  if (read.kind === 'unreadable') return unusable(path, read.why);
  const store = jsonIn(read.bytes);
  const trusted = entriesIn(store);
  if (trusted === undefined) return unusable(path, 'is not as Subluminal wrote it');
  const signature = signatureIn(store);
  if (signature === undefined) return unusable(path, 'is not signed');
  const checked = homeSeal(home).check(signedText(trusted), signature);
  if (checked.kind === 'holds') return { ok: true, trusted };
  if (checked.kind === 'fault') {
    return unusable(path, `cannot be checked: ${checked.message.replace(/\.$/, '')}`);
  }
  const why =
    'has a signature that does not hold: somebody without the key has changed it, or the key is another one';
  return unusable(path, why);
}

function unusable(path: string, why: string): TrustProblem {
  const fix = `Remove ${path}, and trust the policies again with \`sub trust\`.`;
  return { ok: false, message: `${path} ${why}`, fix };
}

/** In front of what is signed: a signature of ours over anything else is none over this. */
const SIGNED_AS = 'subluminal.trust.v1';

function signedText(trusted: readonly TrustEntry[]): string {
  const entries = trusted.map(({ path, sha256, trusted_at }) => [path, sha256, trusted_at]);
  return `${SIGNED_AS}\n${JSON.stringify(entries)}`;
}

function signatureIn(store: unknown): Signature | undefined {
  const signature = isObject(store) ? store['signature'] : undefined;
  if (!isObject(signature)) return undefined;
  const { key_id: keyId, value } = signature;
  if (typeof keyId !== 'string' || typeof value !== 'string') return undefined;
  return SIGNATURE.test(value) ? { keyId, value } : undefined;
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
export function isTrusted(home: string, path: string, sha256: string): boolean {
  const opened = openTrust(home);
  if (!opened.ok) return false;
  const real = realPath(path);
  return opened.trusted.some((entry) => entry.path === real && entry.sha256 === sha256);
}

/** Trusts this content; what was trusted at the same path before is not any more. */
export function trustPolicy(
  home: string,
  { path, sha256 }: Pick<TrustEntry, 'path' | 'sha256'>,
  nowMs: number,
): Promise<SavedTrust> {
  const entry = { path: realPath(path), sha256, trusted_at: new Date(nowMs).toISOString() };
  return changeTrust(home, (trusted) => [...without(trusted, entry.path), entry]);
}

/** `changed` is false when it was not trusted. */
export function revokeTrust(home: string, path: string): Promise<SavedTrust> {
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
  const lock = { folder: join(home, 'run'), name: 'trust' };
  try {
    const saved = await withLock(lock, () => changeLocked(home, change));
    if (!('kind' in saved)) return saved;
    const message = `another process (${saved.pid}) is changing what is remembered in ${home}`;
    return { ok: false, message, fix: 'Wait for it to end, and try again.' };
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
  removeDrafts(join(home, TRUST_FILE));
  const opened = openTrust(home);
  if (!opened.ok) return opened;
  const trusted = change(opened.trusted);
  if (trusted === opened.trusted) return { ok: true, changed: false };
  if (trusted.length > ENTRIES_MAX) {
    const message = `more than ${ENTRIES_MAX} policies would be trusted`;
    return { ok: false, message, fix: 'Revoke some of them: `sub trust revoke PATH`.' };
  }
  const signed = homeSeal(home).sign(signedText(trusted));
  if (signed.kind === 'fault') {
    const message = `what is trusted cannot be signed: ${signed.message.replace(/\.$/, '')}`;
    return { ok: false, message, fix: signed.fix };
  }
  const { keyId: key_id, value } = signed.signature;
  const store = { version: 1, signature: { key_id, value }, trusted };
  const text = `${JSON.stringify(store, null, 2)}\n`;
  writePrivateFile(join(home, TRUST_FILE), text);
  return { ok: true, changed: true };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
