// `sub unwrap`: the configs that a `sub wrap` has left rewritten.
import { CLIENTS, type EntryChange } from '../index.ts';
import { livingOwner } from '../store/before.ts';
import { keyOf, type Store } from '../store/ports.ts';
import { type FoundRecord, listRecords } from '../store/record.ts';
import { restoreRecord } from '../store/restore.ts';
import { findConfigs } from './configs.ts';
import { missingEntriesText } from './missing-entries.ts';
import { type AdoptPlace, clientPlace, storeAt } from './place.ts';
import { type AdoptProblem, heldBy, withCode } from './problem.ts';
import { livingWords } from './repair.ts';

export interface Unwrapped {
  /** The configs that were rewritten and are not any more. */
  readonly restored: readonly string[];
  /** Those of other projects, which were not asked for. */
  readonly elsewhere: readonly string[];
  /** Those that start shims of a session that there is no record of in this home. */
  readonly unknown: readonly { readonly path: string; readonly client: string }[];
  /** Whole sentences about what was done. */
  readonly warnings: readonly string[];
  readonly problems: readonly AdoptProblem[];
}

interface UnwrapOptions extends AdoptPlace {
  /** Also those that no client reads in this project. */
  readonly isEverywhere: boolean;
}

export function unwrapAll(options: UnwrapOptions): Unwrapped {
  const { paths } = options;
  const store = storeAt(paths);
  const here = pathsHere(options);
  const restored: string[] = [];
  const elsewhere: string[] = [];
  const problems: AdoptProblem[] = [];
  const warnings: string[] = [];
  for (const found of listRecords(paths)) {
    if (found.kind === 'problem') problems.push(withCode('SUB_CLIENT_RESTORE', found));
    if (found.kind !== 'record' || !isOfWrap(found)) continue;
    const { path, client } = found.record;
    if (!options.isEverywhere && client !== 'custom' && !here.has(path)) {
      elsewhere.push(path);
      continue;
    }
    const one = unwrapOne(found, store);
    if ('kind' in one) problems.push(one);
    else {
      if (one.isRestored) restored.push(path);
      warnings.push(...one.warnings);
    }
  }
  return { restored, elsewhere, unknown: unrecorded(options, store), warnings, problems };
}

/** A `sub wrap` with another SUB_HOME keeps its records there. */
function unrecorded(options: UnwrapOptions, { paths, ports }: Store): Unwrapped['unknown'] {
  const { found } = findConfigs({ place: clientPlace(options), clients: CLIENTS });
  const known = new Set(listRecords(paths).flatMap((one) => ('key' in one ? [one.key] : [])));
  return found
    .filter(({ target }) => !known.has(keyOf(target, ports)))
    .filter(({ config }) => config.entries.some(({ governed }) => governed?.wrapId !== undefined))
    .map(({ client, file }) => ({ path: file.path, client: client.id }));
}

/** A config that was named by its path belongs to no project. */
function pathsHere(options: UnwrapOptions): ReadonlySet<string> {
  const place = clientPlace(options);
  return new Set(CLIENTS.flatMap((client) => client.files(place).map(({ path }) => path)));
}

/** Also one that was told to leave its config. */
function isOfWrap({ record: { kind, changes } }: FoundRecord): boolean {
  return kind === 'wrap' || changes.some(namesSession);
}

function namesSession({ after }: EntryChange): boolean {
  const words = after.args?.value ?? [];
  const own = typeof words === 'string' ? [] : words.slice(0, Math.max(0, words.indexOf('--')));
  return own.includes('--wrap');
}

interface UnwrappedOne {
  /** False when the config held nothing of ours. */
  readonly isRestored: boolean;
  readonly warnings: readonly string[];
}

function unwrapOne(found: FoundRecord, store: Store): UnwrappedOne | AdoptProblem {
  const { path, wrap_id: wrapId } = found.record;
  const holder = livingOwner(found.record, store);
  if (holder !== undefined) return heldBy(path, holder.by);
  const result = restoreRecord(found, store);
  if (result.kind === 'held') return heldBy(path, result.by);
  if (result.kind === 'problem') return withCode('SUB_CLIENT_RESTORE', result);
  if (result.kind === 'none') return { isRestored: false, warnings: [] };
  const isRestored = result.kind === 'restored';
  const living = isRestored ? livingWords(wrapId, store.paths).trimStart() : '';
  const warnings = [missingEntriesText(result) ?? '', living].filter((text) => text !== '');
  return { isRestored, warnings };
}
