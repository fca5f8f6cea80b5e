// A record as it stands in its file. What does not fit is damaged: nothing in it is guessed.

import { basename, dirname, isAbsolute } from 'node:path';
import { isObject } from '@subluminal/contracts';
import type { ProcessIdentity } from '../../../os/index.ts';
import type { SettingsRecord } from '../text/change-settings.ts';
import type { ClientId, EntryChange, Format, HookChange, MovedSecret } from '../types.ts';

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
  /** The secrets that the base lacks: undoing the change puts them back. */
  readonly moved?: readonly MovedSecret[];
  readonly hooks?: HookChange;
  /** It was not there before, or not even its folder. */
  readonly created?: 'file' | 'folder';
  /** The living `sub wrap`. */
  readonly owner?: ProcessIdentity;
  readonly wrap_id?: string;
  /** Settings that were changed, in place of entries. */
  readonly settings?: SettingsRecord;
  /** The temporary file beside the config, whether it is there or not. */
  readonly draft: string;
}

export function recordText(record: ConfigRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

export function parseRecord(text: string): ConfigRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && isDraftOf(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Check = (value: unknown) => boolean;

const CHANGES_MAX = 100_000;
const PATH_LENGTH_MAX = 32;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const path: Check = (value) =>
  typeof value === 'string' && isAbsolute(value) && !value.includes('\0');
const step: Check = (value) => text(value) || Number.isSafeInteger(value);

function object(fields: { readonly [name: string]: Check }): Check {
  return (value) =>
    isObject(value) && Object.entries(fields).every(([name, fits]) => fits(value[name]));
}
function optional(fits: Check): Check {
  return (value) => value === undefined || fits(value);
}
function list(fits: Check, lengthMax = CHANGES_MAX): Check {
  return (value) => Array.isArray(value) && value.length <= lengthMax && value.every(fits);
}
function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}
function like(pattern: RegExp): Check {
  return (value) => typeof value === 'string' && pattern.test(value);
}

const VALUE_PATH: Check = (value) =>
  list(step, PATH_LENGTH_MAX)(value) && Array.isArray(value) && value.length > 0;
const DIGEST = object({ sha256: like(/^[0-9a-f]{64}$/), bytes: Number.isSafeInteger });
const VALUE = object({ text, value: (value) => text(value) || list(text)(value) });
const VALUES = object({ command: VALUE, args: (value) => value === null || VALUE(value) });
const CHANGES = list(
  object({
    name: text,
    project: optional(text),
    at: object({ command: VALUE_PATH, args: VALUE_PATH }),
    before: (value) => value === null || VALUES(value),
    after: VALUES,
    entry: optional(
      object({ path: VALUE_PATH, address: text, headers: text, replaced: list(text) }),
    ),
  }),
);
const CUT = object({
  at: count,
  length: count,
  head: text,
  tail: text,
  form: oneOf('quoted', 'literal'),
});
const MOVED = list(
  object({
    server: text,
    path: VALUE_PATH,
    variable: optional(text),
    secret: text,
    moved_at: optional(text),
    started: optional(text),
    cut: optional(CUT),
  }),
);
const SETTINGS = object({
  edits: list(
    object({
      path: list(text, PATH_LENGTH_MAX),
      had: count,
      added: optional(list(text)),
      isNew: optional((value) => typeof value === 'boolean'),
    }),
  ),
  patch: text,
});
const OWNER = object({
  pid: (value) => count(value) && value !== 0,
  start: text,
  space: optional(text),
});
const RECORD = object({
  v: oneOf(1),
  kind: oneOf('import', 'wrap'),
  client: like(/^[a-z][a-z0-9-]{0,63}$/),
  path,
  target: path,
  format: oneOf('json', 'jsonc', 'toml'),
  created_at: text,
  base: DIGEST,
  after: DIGEST,
  from: optional(DIGEST),
  changes: CHANGES,
  earlier: optional(CHANGES),
  moved: optional(MOVED),
  hooks: optional(
    object({
      block: optional(text),
      guards: optional(list(text)),
      policy: optional(path),
      isManaged: optional(oneOf(true)),
    }),
  ),
  created: optional(oneOf('file', 'folder')),
  owner: optional(OWNER),
  wrap_id: optional(text),
  settings: optional(SETTINGS),
  draft: path,
});

function isRecord(value: unknown): value is ConfigRecord {
  return RECORD(value);
}

export function isOwner(value: unknown): value is ProcessIdentity {
  return OWNER(value);
}

function isDraftOf({ draft, target }: ConfigRecord): boolean {
  return dirname(draft) === dirname(target) && isDraftName(basename(draft), target);
}

/** Only a file that is named like a draft of that config is ever removed as one. */
export function isDraftName(name: string, target: string): boolean {
  const prefix = `.${basename(target)}.subluminal-`;
  return name.startsWith(prefix) && /^[0-9a-f-]{36}$/.test(name.slice(prefix.length));
}
