// The policies of projects that the user has trusted, by real path and content hash, in one file of
// the home. The file is signed with the key of the home: an edit without the key is not believed. A
// policy that has changed is no longer trusted.
import { join } from 'node:path';
import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import { homeSeal, type Signature } from '../../os/crypto/index.ts';
import {
  changeFiles,
  parseJson,
  readPrivateFile,
  realPath,
  writePrivateFile,
} from '../../os/index.ts';

const TRUST_FILE = 'trust.json';
const FILE_BYTES_MAX = 4_194_304;
const ENTRIES_MAX = 1_000;
const PATH_LENGTH_MAX = 4_096;
const HASH = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[A-Za-z0-9+/=]{88}$/;
/** Put in front of the signed text, so that no other signature of this key is valid for it. */
const SIGNED_AS = 'subluminal.trust.v1';

export interface TrustEntry {
  /** The real path of the policy. */
  readonly path: string;
  readonly sha256: string;
  readonly trusted_at: string;
}

/** Reads the trusted policies; none without a file. Refuses a file that others may have written. */
export function openTrust(home: string): readonly TrustEntry[] | Failure {
  const path = join(home, TRUST_FILE);
  const read = readPrivateFile(path, { bytesMax: FILE_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return [];
  if (read.kind === 'unreadable') return unusable(path, `${read.why}.`);
  const store = parseJson(read.bytes.toString('utf8'));
  const trusted = readEntries(store);
  if (trusted === undefined) return unusable(path, 'is not as Subluminal wrote it.');
  const signature = readSignature(store);
  if (signature === undefined) return unusable(path, 'is not signed.');
  const holds = homeSeal(home).check(signedText(trusted), signature);
  if (isFailure(holds)) return unusable(path, `cannot be checked: ${holds.message}`);
  if (holds) return trusted;
  const why = 'somebody without the key has changed it, or the key is another one.';
  return unusable(path, `has a signature that does not hold: ${why}`);
}

function unusable(path: string, why: string): Failure {
  const fix = `Remove ${path}, and trust the policies again with \`sub trust\`.`;
  return failure('SUB_TRUST_STORE', `${path} ${why}`, fix);
}

function signedText(trusted: readonly TrustEntry[]): string {
  const entries = trusted.map(({ path, sha256, trusted_at }) => [path, sha256, trusted_at]);
  return `${SIGNED_AS}\n${JSON.stringify(entries)}`;
}

function readSignature(store: unknown): Signature | undefined {
  const signature = isObject(store) ? store['signature'] : undefined;
  if (!isObject(signature)) return undefined;
  const { key_id: keyId, value } = signature;
  if (typeof keyId !== 'string' || typeof value !== 'string') return undefined;
  return SIGNATURE.test(value) ? { keyId, value } : undefined;
}

/** Undefined when anything in the file is unexpected. */
function readEntries(store: unknown): readonly TrustEntry[] | undefined {
  if (!isObject(store) || store['version'] !== 1) return undefined;
  const list: unknown = store['trusted'];
  if (!Array.isArray(list) || list.length > ENTRIES_MAX) return undefined;
  return list.every(isEntry) ? list : undefined;
}

function isEntry(item: unknown): item is TrustEntry {
  if (!isObject(item)) return false;
  const { path, sha256, trusted_at } = item;
  if (typeof path !== 'string' || path.length > PATH_LENGTH_MAX) return false;
  return typeof sha256 === 'string' && HASH.test(sha256) && typeof trusted_at === 'string';
}

/** Whether exactly this content was trusted at this path. */
export function isTrusted(home: string, path: string, sha256: string): boolean {
  const trusted = openTrust(home);
  if (isFailure(trusted)) return false;
  const real = realPath(path);
  return trusted.some((entry) => entry.path === real && entry.sha256 === sha256);
}

/** Trusts this content, instead of what was trusted at the same path before. */
export function trustPolicy(
  home: string,
  { path, sha256 }: Pick<TrustEntry, 'path' | 'sha256'>,
  nowMs: number,
): Promise<boolean | Failure> {
  const entry = { path: realPath(path), sha256, trusted_at: new Date(nowMs).toISOString() };
  return changeTrust(home, (trusted) => [...without(trusted, entry.path), entry]);
}

/** False when the policy was not trusted. */
export function revokeTrust(home: string, path: string): Promise<boolean | Failure> {
  return changeTrust(home, (trusted) => without(trusted, realPath(path), path));
}

function without(trusted: readonly TrustEntry[], ...paths: readonly string[]) {
  const rest = trusted.filter(({ path }) => !paths.includes(path));
  return rest.length === trusted.length ? trusted : rest;
}

/** Whether anything was changed. */
function changeTrust(
  home: string,
  change: (trusted: readonly TrustEntry[]) => readonly TrustEntry[],
): Promise<boolean | Failure> {
  const lock = { home, name: 'trust', files: [TRUST_FILE], what: `the trust of ${home}` } as const;
  return changeFiles({ ...lock, busyCode: 'SUB_TRUST_STORE' }, () => {
    const opened = openTrust(home);
    if (isFailure(opened)) return opened;
    const trusted = change(opened);
    if (trusted === opened) return false;
    if (trusted.length > ENTRIES_MAX) {
      const message = `more than ${ENTRIES_MAX} policies would be trusted.`;
      const fix = 'Revoke some of them: `sub trust revoke PATH`.';
      return failure('SUB_TRUST_STORE', message, fix);
    }
    const signed = homeSeal(home).sign(signedText(trusted));
    if (isFailure(signed)) {
      const message = `what is trusted cannot be signed: ${signed.message}`;
      return failure('SUB_TRUST_STORE', message, signed.fix);
    }
    const { keyId: key_id, value } = signed;
    const store = { version: 1, signature: { key_id, value }, trusted };
    writePrivateFile(join(home, TRUST_FILE), `${JSON.stringify(store, null, 2)}\n`);
    return true;
  });
}
