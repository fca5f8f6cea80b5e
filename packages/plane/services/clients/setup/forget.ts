// `sub restore --forget`: configs that were governed and then deleted on purpose.
import type { Client } from '../index.ts';
import { listRecords } from '../store/record.ts';
import { forgetRecord } from '../store/restore.ts';
import { type AdoptPlace, storeAt } from './place.ts';
import { type AdoptProblem, heldBy, withCode } from './problem.ts';

export interface ForgetOptions extends Pick<AdoptPlace, 'paths'> {
  /** Every client without one. */
  readonly client?: Client | undefined;
  readonly configPath?: string | undefined;
}

interface Forgotten {
  readonly path: string;
  readonly original: string;
  /** The names of its secrets, which stay in the store. */
  readonly secrets: readonly string[];
}

interface ForgottenConfigs {
  /** With where each config is kept as it was before us. */
  readonly forgotten: readonly Forgotten[];
  readonly problems: readonly AdoptProblem[];
}

/** Configs that are there are none of its business: those can be restored. */
export function forgetConfigs({ paths, client, configPath }: ForgetOptions): ForgottenConfigs {
  const store = storeAt(paths);
  const forgotten: Forgotten[] = [];
  const problems: AdoptProblem[] = [];
  for (const found of listRecords(paths)) {
    if (found.kind === 'problem') problems.push(withCode('SUB_CLIENT_RESTORE', found));
    if (found.kind !== 'record') continue;
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
    } else if (result.kind === 'held') problems.push(heldBy(record.path, result.by));
    else if (result.kind === 'problem') problems.push(withCode('SUB_CLIENT_RESTORE', result));
  }
  return { forgotten, problems };
}
