// A record as it stands in its file. What does not fit is damaged: nothing in it is guessed.

import { basename, dirname, isAbsolute } from 'node:path';
import { isObject } from '@subluminal/contracts';
import type { ProcessIdentity } from '../../../os/index.ts';
import type {
  ClientId,
  CutText,
  EntryChange,
  EntryValues,
  Format,
  MovedSecret,
  ValuePath,
  ValueText,
} from '../types.ts';

/** Of bytes, so that they are known again. */
export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

export type ChangeKind = 'import' | 'wrap';

export interface ConfigRecord {
  readonly v: 1;
  readonly kind: ChangeKind;
  readonly client: ClientId;
  /** As the client finds it. */
  readonly path: string;
  readonly target: string;
  readonly format: Format;
  readonly created_at: string;
  /** The config without our edits: what the backup holds. */
  readonly base: Digest;
  readonly after: Digest;
  /** What the config was when the change began, if that was not the base: then it held older edits. */
  readonly from?: Digest;
  readonly changes: readonly EntryChange[];
  /** Those older edits, as long as a kill may have left them in place. */
  readonly earlier?: readonly EntryChange[];
  /** The secrets that the base lacks: whoever undoes the change puts them back. */
  readonly moved?: readonly MovedSecret[];
  /** The living `sub wrap`. */
  readonly owner?: ProcessIdentity;
  readonly wrap_id?: string;
  /** The temporary file beside the config, whether it is there or not. */
  readonly draft: string;
}

const CHANGES_MAX = 100_000;
const PATH_LENGTH_MAX = 32;
const FORMATS: readonly string[] = ['json', 'jsonc', 'toml'] satisfies readonly Format[];
const CLIENT_ID = /^[a-z][a-z0-9-]{0,63}$/;

export function recordText(record: ConfigRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

export function parseRecord(text: string): ConfigRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ConfigRecord {
  if (!isObject(value) || value['v'] !== 1) return false;
  const { kind, client, path, target, format, draft } = value;
  return (
    (kind === 'import' || kind === 'wrap') &&
    typeof client === 'string' &&
    CLIENT_ID.test(client) &&
    isPath(path) &&
    isPath(target) &&
    typeof format === 'string' &&
    FORMATS.includes(format) &&
    isPath(draft) &&
    isDraftOf(draft, target) &&
    isPlain(value)
  );
}

function isPlain(value: { readonly [key: string]: unknown }): boolean {
  const { created_at: createdAt, base, after, from, changes, earlier, owner } = value;
  const { wrap_id: wrapId, moved } = value;
  return (
    typeof createdAt === 'string' &&
    isDigest(base) &&
    isDigest(after) &&
    (from === undefined || isDigest(from)) &&
    isChanges(changes) &&
    (earlier === undefined || isChanges(earlier)) &&
    (moved === undefined || isMoved(moved)) &&
    (owner === undefined || isOwner(owner)) &&
    (wrapId === undefined || typeof wrapId === 'string')
  );
}

/** Only what is named like a draft of that config is ever removed as one. */
function isDraftOf(draft: string, target: string): boolean {
  const prefix = `.${basename(target)}.subluminal-`;
  const name = basename(draft);
  if (dirname(draft) !== dirname(target) || !name.startsWith(prefix)) return false;
  return /^[0-9a-f-]{36}$/.test(name.slice(prefix.length));
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && isAbsolute(value) && !value.includes('\0');
}

function isDigest(value: unknown): value is Digest {
  if (!isObject(value)) return false;
  const { sha256, bytes } = value;
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) && Number.isSafeInteger(bytes);
}

function isOwner(value: unknown): value is ProcessIdentity {
  if (!isObject(value)) return false;
  const { pid, start, space } = value;
  const isNamed = typeof start === 'string' && (space === undefined || typeof space === 'string');
  return Number.isSafeInteger(pid) && Number(pid) > 0 && isNamed;
}

function isChanges(value: unknown): value is readonly EntryChange[] {
  return Array.isArray(value) && value.length <= CHANGES_MAX && value.every(isChange);
}

function isChange(value: unknown): value is EntryChange {
  if (!isObject(value)) return false;
  const { name, project, at, before, after } = value;
  if (typeof name !== 'string' || !isObject(at)) return false;
  if (project !== undefined && typeof project !== 'string') return false;
  return (
    isValuePath(at['command']) && isValuePath(at['args']) && isValues(before) && isValues(after)
  );
}

function isMoved(value: unknown): value is readonly MovedSecret[] {
  return Array.isArray(value) && value.length <= CHANGES_MAX && value.every(isMovedSecret);
}

function isMovedSecret(value: unknown): value is MovedSecret {
  if (!isObject(value)) return false;
  const { server, path, secret, cut, moved_at: movedAt, started } = value;
  const isNamed = typeof server === 'string' && typeof secret === 'string';
  if (movedAt !== undefined && typeof movedAt !== 'string') return false;
  if (started !== undefined && typeof started !== 'string') return false;
  return isNamed && isValuePath(path) && (cut === undefined || isCut(cut));
}

function isCut(value: unknown): value is CutText {
  if (!isObject(value)) return false;
  const { at, length, head, tail, form } = value;
  const isPlaced = [at, length].every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
  const isText = typeof head === 'string' && typeof tail === 'string';
  return isPlaced && isText && (form === 'quoted' || form === 'literal');
}

function isValuePath(value: unknown): value is ValuePath {
  if (!Array.isArray(value) || value.length === 0 || value.length > PATH_LENGTH_MAX) return false;
  return value.every((step) => typeof step === 'string' || Number.isSafeInteger(step));
}

function isValues(value: unknown): value is EntryValues {
  if (!isObject(value)) return false;
  return isValueText(value['command']) && (value['args'] === null || isValueText(value['args']));
}

function isValueText(value: unknown): value is ValueText {
  if (!isObject(value) || typeof value['text'] !== 'string') return false;
  const plain = value['value'];
  if (typeof plain === 'string') return true;
  return Array.isArray(plain) && plain.every((word) => typeof word === 'string');
}
