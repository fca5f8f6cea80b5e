// `sub unwrap`: the configs that a `sub wrap` has left rewritten.
import { CLIENTS, type EntryChange } from '../../clients/index.ts';
import { isAlive, type Store } from '../../clients/store/ports.ts';
import { type FoundRecord, listRecords } from '../../clients/store/record.ts';
import { restoreRecord } from '../../clients/store/restore.ts';
import { type AdoptPlace, clientPlace, storeAt } from './place.ts';
import { type AdoptProblem, heldBy, withCode } from './problem.ts';

interface Unwrapped {
  /** The configs that are as before, or as others have made them since. */
  readonly restored: readonly string[];
  /** Those of other projects, which were not asked for. */
  readonly elsewhere: readonly string[];
  readonly problems: readonly AdoptProblem[];
}

interface UnwrapOptions extends AdoptPlace {
  /** Also those that no client reads in this project. */
  readonly isEverywhere: boolean;
}

function unwrapAll(options: UnwrapOptions): Unwrapped {
  const { paths } = options;
  const store = storeAt(paths);
  const here = pathsHere(options);
  const restored: string[] = [];
  const elsewhere: string[] = [];
  const problems: AdoptProblem[] = [];
  for (const found of listRecords(paths)) {
    if (found.kind === 'problem') problems.push(withCode('SUB_CLIENT_RESTORE', found));
    if (found.kind !== 'record' || !isOfWrap(found)) continue;
    const { path, client } = found.record;
    if (!options.isEverywhere && client !== 'custom' && !here.has(path)) {
      elsewhere.push(path);
      continue;
    }
    const problem = unwrapOne(found, store);
    if (problem === undefined) restored.push(path);
    else problems.push(problem);
  }
  return { restored, elsewhere, problems };
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

function unwrapOne(found: FoundRecord, store: Store): AdoptProblem | undefined {
  const { path, owner } = found.record;
  if (owner !== undefined && isAlive(owner, store.ports)) return heldBy(path, owner.pid);
  const result = restoreRecord(found, store);
  if (result.kind === 'held') return heldBy(path, result.by.pid);
  return result.kind === 'problem' ? withCode('SUB_CLIENT_RESTORE', result) : undefined;
}

export type { Unwrapped };
export { unwrapAll };
