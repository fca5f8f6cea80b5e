// Repairs what killed processes have left in configs, or reports it for commands that change nothing.

import type { Failure } from '@subluminal/contracts';
import { livingProcesses } from '../../../stores/identity/index.ts';
import { runOfWrap } from '../../../stores/runs/wrap-file.ts';
import { CLIENTS, type Client, type EntryChange } from '../index.ts';
import { type AdoptionPlace, clientPlace, storeAt, withCode } from '../inspect/adoption-place.ts';
import { findConfigs } from '../inspect/find-configs.ts';
import { heldByOwner } from '../store/apply-change.ts';
import { type ChangeStore, configKey } from '../store/change-store.ts';
import { type FoundRecord, listRecords } from '../store/records.ts';
import { leftBehind, type RepairResult, repairAll } from '../store/repair-configs.ts';
import { forgetRecord, restoreRecord } from '../store/restore-config.ts';

/** One line for each thing that was done, for people. */
export function repairHome({ paths }: Pick<AdoptionPlace, 'paths'>): readonly string[] {
  // An agent that has ended meanwhile is no reason for a warning, so it is looked for afterwards.
  return repairAll(storeAt(paths)).map((repaired) => lineOf(repaired, paths));
}

/** One line for each thing that `repairHome` would put back; nothing is changed. */
export function unrepaired({ paths }: Pick<AdoptionPlace, 'paths'>): readonly string[] {
  return leftBehind(storeAt(paths)).map(
    (path) =>
      `${path} was left rewritten by a \`sub wrap\` that was killed; \`sub unwrap\` puts it back.`,
  );
}

function lineOf(repaired: RepairResult, paths: AdoptionPlace['paths']): string {
  switch (repaired.what) {
    case 'restored': {
      const how =
        repaired.how === 'merged' ? ' What others have changed in it since was kept.' : '';
      const lost = missingEntriesText(repaired);
      const living = livingAgentText(repaired.wrapId, paths);
      const words = `a \`sub wrap\` that was killed had left ${repaired.path} rewritten; it was put back.${how}`;
      return `${words}${lost === undefined ? '' : ` ${lost}`}${living === '' ? '' : ` ${living}`}`;
    }
    case 'dropped':
      return (
        missingEntriesText(repaired) ??
        `${repaired.path} is as it was before sub changed it; there was nothing to undo.`
      );
    case 'swept':
      return `a change of ${repaired.path} had been cut off; the draft that it left was removed.`;
    case 'elsewhere':
      return `${repaired.path} is rewritten by a \`sub wrap\` in another container (process ${repaired.pid} there), which cannot be seen from here: it was left as it is.`;
    case 'problem': {
      const { message, fix } = repaired.problem;
      return `${message} ${fix} [SUB_CLIENT_RESTORE]`;
    }
  }
}

/** An agent that outlives its `sub wrap` reads the config again whenever it likes. */
function livingAgentText(wrapId: string | undefined, { run }: AdoptionPlace['paths']): string {
  const runId = wrapId === undefined ? undefined : runOfWrap(run, wrapId);
  const agents = (livingProcesses(run) ?? []).filter(
    (one) => one.runId === runId && one.isHere && !one.isShim,
  );
  const pids = agents.map(({ pid }) => pid);
  if (pids.length === 0) return '';
  return `Its agent (process ${pids.join(', ')}) still runs: the servers that it starts from now on are NOT governed. End it, and start it again.`;
}

// `sub unwrap`: the configs that a `sub wrap` has left rewritten.

export interface Unwrapped {
  /** The configs that were rewritten and are not any more. */
  readonly restored: readonly string[];
  /** Those of other projects, which were left as they are. */
  readonly elsewhere: readonly string[];
  /** Those that start shims of a session that there is no record of in this home. */
  readonly unknown: readonly { readonly path: string; readonly client: string }[];
  /** Whole sentences about what was done. */
  readonly warnings: readonly string[];
  readonly problems: readonly Failure[];
}

interface UnwrapOptions extends AdoptionPlace {
  /** Also those that no client reads in this project. */
  readonly isEverywhere: boolean;
}

export function unwrapAll(options: UnwrapOptions): Unwrapped {
  const { paths } = options;
  const store = storeAt(paths);
  const here = pathsHere(options);
  const restored: string[] = [];
  const elsewhere: string[] = [];
  const problems: Failure[] = [];
  const warnings: string[] = [];
  for (const found of listRecords(paths)) {
    if (found.kind === 'failure') problems.push(withCode('SUB_CLIENT_RESTORE', found));
    if (found.kind === 'failure' || !isOfWrap(found)) continue;
    const { path, client, wrap_id: wrapId } = found.record;
    if (!options.isEverywhere && client !== 'custom' && !here.has(path)) {
      elsewhere.push(path);
      continue;
    }
    const result = heldByOwner(found.record, store) ?? restoreRecord(found, store);
    if (result.kind === 'failure') problems.push(withCode('SUB_CLIENT_RESTORE', result));
    if (result.kind === 'failure' || result.kind === 'none') continue;
    const lost = missingEntriesText(result);
    if (lost !== undefined) warnings.push(lost);
    if (result.kind === 'untouched') continue;
    restored.push(path);
    const living = livingAgentText(wrapId, paths);
    if (living !== '') warnings.push(living);
  }
  return { restored, elsewhere, unknown: unrecorded(options, store), warnings, problems };
}

/** A `sub wrap` with another SUB_HOME keeps its records there. */
function unrecorded(options: UnwrapOptions, { paths }: ChangeStore): Unwrapped['unknown'] {
  const { found } = findConfigs({ place: clientPlace(options), clients: CLIENTS });
  const known = new Set(listRecords(paths).flatMap((one) => ('key' in one ? [one.key] : [])));
  return found
    .filter(({ target }) => !known.has(configKey(target)))
    .filter(({ config }) => config.entries.some(({ governed }) => governed?.wrapId !== undefined))
    .map(({ client, file }) => ({ path: file.path, client: client.id }));
}

/** A config that was named by its path belongs to no project. */
function pathsHere(options: UnwrapOptions): ReadonlySet<string> {
  const place = clientPlace(options);
  return new Set(CLIENTS.flatMap((client) => client.files(place).map(({ path }) => path)));
}

/** Also a record of a session that was started with `--no-restore`. */
function isOfWrap({ record: { kind, changes } }: FoundRecord): boolean {
  return kind === 'wrap' || changes.some(namesSession);
}

function namesSession({ after }: EntryChange): boolean {
  const words = after.args?.value ?? [];
  const own = typeof words === 'string' ? [] : words.slice(0, Math.max(0, words.indexOf('--')));
  return own.includes('--wrap');
}

// `sub restore --forget`: configs that were governed and then deleted on purpose.

export interface ForgetOptions extends Pick<AdoptionPlace, 'paths'> {
  /** Every client without one. */
  readonly client?: Client | undefined;
  readonly configPath?: string | undefined;
}

interface ForgottenConfig {
  readonly path: string;
  readonly original: string;
  /** The names of its secrets, which stay in the store. */
  readonly secrets: readonly string[];
}

interface ForgottenConfigs {
  /** With where each config is kept as it was before us. */
  readonly forgotten: readonly ForgottenConfig[];
  readonly problems: readonly Failure[];
}

/** Leaves configs that exist alone: those can be restored. */
export function forgetConfigs({ paths, client, configPath }: ForgetOptions): ForgottenConfigs {
  const store = storeAt(paths);
  const forgotten: ForgottenConfig[] = [];
  const problems: Failure[] = [];
  for (const found of listRecords(paths)) {
    if (found.kind === 'failure') {
      problems.push(withCode('SUB_CLIENT_RESTORE', found));
      continue;
    }
    const { record } = found;
    const isChosen =
      configPath === undefined
        ? client === undefined || record.client === client.id
        : record.path === configPath;
    if (!isChosen) continue;
    const result = forgetRecord(found, store);
    if (result.kind === 'forgotten') {
      const secrets = [...new Set(record.moved?.map(({ secret }) => secret))];
      forgotten.push({ path: result.path, original: result.original, secrets });
    } else if (result.kind === 'failure') problems.push(withCode('SUB_CLIENT_RESTORE', result));
  }
  return { forgotten, problems };
}

// The sentence about entries that others have removed from a config since we changed it.

interface MissingEntries {
  readonly path: string;
  readonly missing: readonly { readonly name: string }[];
  /** Where the config is kept as it was before us. */
  readonly original: string | undefined;
}

/** A whole sentence; undefined when nothing is missing. */
export function missingEntriesText({
  path,
  missing,
  original,
}: MissingEntries): string | undefined {
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(', ');
  const where = original === undefined ? '' : ` The config as it was before is in ${original}.`;
  return `${path} does not have ${names} any more: another program has removed what was governed, and it cannot be put back.${where}`;
}
