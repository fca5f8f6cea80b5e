// `sub policy sandbox`: the settings of a client's own sandbox, planned from the file as it would be without
// ours, so that a second policy takes the place of the first.
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import type {
  LeftRule,
  SandboxDialect,
  SandboxPlaces,
  SandboxPlan,
} from '@subluminal/core/sandbox';
import {
  type ClientPlace,
  type ConfigFailure,
  type ConfigFile,
  clientOf,
  type RewrittenConfig,
} from '../index.ts';
import {
  type AdoptionPlace,
  clientPlace,
  loadDiffRedactor,
  storeAt,
  withCode,
} from '../inspect/adoption-place.ts';
import { redactedDiff } from '../inspect/redacted-diff.ts';
import { folderFromVariable } from '../project-folders.ts';
import { applyChange, readPriorState } from '../store/apply-change.ts';
import { type ChangeStore, configFailure, configKey } from '../store/change-store.ts';
import { readConfigFile } from '../store/config-file.ts';
import { readRecord } from '../store/records.ts';
import {
  changeSettings,
  editedPaths,
  holds,
  isRefused,
  settingsIn,
} from '../text/change-settings.ts';

/** Settings are nobody else's business. */
const NEW_FILE_MODE = 0o600;

/** Where each client keeps the settings of the user. */
const FILES: { readonly [client: string]: (place: ClientPlace) => Omit<ConfigFile, 'client'> } = {
  'claude-code': (place) => ({
    path: join(
      folderFromVariable(place, 'CLAUDE_CONFIG_DIR', join(place.userHome, '.claude')),
      'settings.json',
    ),
    ...{ scope: 'user', format: 'json' },
  }),
  codex: (place) => ({
    path: join(
      folderFromVariable(place, 'CODEX_HOME', join(place.userHome, '.codex')),
      'config.toml',
    ),
    ...{ scope: 'user', format: 'toml' },
  }),
  cursor: ({ userHome }) => ({
    path: join(userHome, '.cursor', 'sandbox.json'),
    ...{ scope: 'user', format: 'jsonc' },
  }),
};

export interface SandboxOptions extends AdoptionPlace {
  readonly dialect: SandboxDialect;
  readonly plan: SandboxPlan;
  readonly places: SandboxPlaces;
  readonly redactPatterns: readonly string[];
}

export interface SandboxFile {
  readonly kind: 'planned';
  readonly path: string;
  /** What the file gets, as it would stand in an empty one. */
  readonly text: string;
  readonly left: readonly LeftRule[];
  readonly notes: readonly string[];
  readonly isChanged: boolean;
  readonly diff: string;
  /** Whole sentences, or why the file was not changed. */
  readonly apply: () => readonly string[] | Failure;
}

/** The settings file of the user: its path, whether or not it is there. */
export function sandboxFile(client: string, place: ClientPlace): ConfigFile {
  const find = FILES[client];
  if (find === undefined) throw new Error(`the sandbox of ${client} has no file`);
  return { ...find(place), client };
}

export async function planSandbox(options: SandboxOptions): Promise<SandboxFile | Failure> {
  const { dialect, plan, places, redactPatterns } = options;
  const redact = await loadDiffRedactor(redactPatterns);
  if (isFailure(redact)) return redact;
  const store = storeAt(options.paths);
  const file = sandboxFile(dialect.client, clientPlace(options));
  const now = currentText(file, store);
  if (isFailure(now)) return withCode('SUB_CLIENT_CONFIG', now);
  const read = settingsIn({ text: now.base, format: file.format });
  if (isRefused(read)) return withCode('SUB_CLIENT_CONFIG', refusal(file, read.why));
  const { changes, left, notes } = dialect.settings(plan, read, places);
  const rewrite = (text: string): RewrittenConfig | ConfigFailure => {
    const changed = changeSettings({ text, format: file.format }, changes);
    if (changed.kind === 'refused') return refusal(file, changed.why);
    return { text: changed.text, changes: [], settings: changed.record };
  };
  const rewritten = rewrite(now.base);
  if ('kind' in rewritten) return withCode('SUB_CLIENT_CONFIG', rewritten);
  const set = changes.filter((change) => !('drop' in change));
  const alone = changeSettings({ text: '', format: file.format }, set);
  return {
    kind: 'planned',
    path: file.path,
    text: alone.kind === 'refused' ? '' : alone.text,
    left: [...plan.left, ...left],
    notes,
    isChanged: rewritten.text !== now.text,
    diff: diffOf({ file, before: now.text, rewritten }, redact),
    apply: () => {
      const change = { ...store, file, rewrite, newMode: NEW_FILE_MODE } as const;
      const result = applyChange({ ...change, kind: 'import', part: 'sandbox' });
      return result.kind === 'failure' ? withCode('SUB_CLIENT_WRITE', result) : result.warnings;
    },
  };
}

interface CurrentText {
  readonly kind: 'text';
  readonly text: string;
  /** Without what an earlier policy has put there. */
  readonly base: string;
}

function currentText(file: ConfigFile, store: ChangeStore): CurrentText | ConfigFailure {
  const config = readConfigFile(file.path);
  if (config.kind === 'failure') return config;
  if (config.kind === 'missing') return { kind: 'text', text: '', base: '' };
  const key = configKey(config.target, 'sandbox');
  const before = readPriorState(config, key, store);
  if (before.kind === 'failure') return before;
  return { kind: 'text', text: config.text, base: before.text };
}

export interface SandboxStatus {
  readonly path: string;
  /** Others have changed what was written. */
  readonly isChanged: boolean;
}

/** What `--write` has put into the settings of a client; undefined where nothing is on record. */
export function sandboxStatus(client: string, place: AdoptionPlace): SandboxStatus | undefined {
  if (FILES[client] === undefined) return undefined;
  const { path, format } = sandboxFile(client, clientPlace(place));
  const config = readConfigFile(path);
  const key = configKey(config.kind === 'read' ? config.target : path, 'sandbox');
  const found = readRecord(key, storeAt(place.paths).paths);
  if (found.kind !== 'record') return undefined;
  const { edits = [] } = found.record.settings ?? {};
  const now = settingsIn({ text: config.kind === 'read' ? config.text : '', format });
  return { path, isChanged: isRefused(now) || !holds(now, edits) };
}

function refusal({ path }: ConfigFile, why: string): ConfigFailure {
  return configFailure(
    path,
    `${path} cannot be changed: ${why}`,
    'Correct the file, and try again.',
  );
}

interface SettingsDiff {
  readonly file: ConfigFile;
  readonly before: string;
  readonly rewritten: RewrittenConfig;
}

function diffOf(
  { file, before, rewritten }: SettingsDiff,
  redact: (text: string) => string,
): string {
  const client = clientOf(file.client);
  const [old, next] = [client.read(file, before), client.read(file, rewritten.text)];
  if (old.kind === 'failure' || next.kind === 'failure') return '';
  const shown = rewritten.settings === undefined ? [] : editedPaths(rewritten.settings);
  return redactedDiff({ before: old, after: next, redact, shown });
}
