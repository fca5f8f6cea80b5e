// `sub status`: which servers of which clients are governed.
import { CLIENTS } from '../../clients/index.ts';
import { isAlive, keyOf } from '../../clients/store/ports.ts';
import { readRecord } from '../../clients/store/record.ts';
import { findConfigs } from './configs.ts';
import { type AdoptPlace, clientPlace, storeAt } from './place.ts';
import { type AdoptProblem, withCode } from './problem.ts';
import { type ServerView, viewsOf } from './server-state.ts';

interface StatusFile {
  readonly client: string;
  readonly title: string;
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly servers: readonly ServerView[];
  /** How it came about; null without a record. */
  readonly change: 'import' | 'wrap' | null;
  /** The `sub wrap` that has rewritten it and still runs. */
  readonly wrapPid: number | null;
}

interface Adoptions {
  readonly files: readonly StatusFile[];
  readonly problems: readonly AdoptProblem[];
}

function adoptionStatus(place: AdoptPlace): Adoptions {
  const store = storeAt(place.paths);
  const { found, problems } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const files = found.map(({ client, file, target, config }): StatusFile => {
    const record = readRecord(keyOf(target, store.ports), store.paths);
    const { kind = null, owner } = record.kind === 'record' ? record.record : {};
    const isLive = owner !== undefined && isAlive(owner, store.ports);
    return {
      client: client.id,
      title: client.title,
      path: file.path,
      scope: file.scope,
      servers: viewsOf(config),
      change: kind,
      wrapPid: isLive ? owner.pid : null,
    };
  });
  return { files, problems: problems.map((one) => withCode('SUB_CLIENT_CONFIG', one)) };
}

export type { Adoptions, StatusFile };
export { adoptionStatus };
