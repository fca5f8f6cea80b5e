// `sub status`: which servers of which clients are governed.
import type { Client as EventClient, Failure } from '@subluminal/contracts';
import { isProcessAlive } from '../../../os/index.ts';
import { CLIENTS, otherEventNames, projectOfFile } from '../index.ts';
import { type AdoptionPlace, clientPlace, storeAt, withCode } from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs, recordedConfigs } from '../inspect/find-configs.ts';
import { type LooseOptions, looseIn } from '../inspect/loose-entries.ts';
import type { OwnCall } from '../inspect/own-program.ts';
import { type ServerView, viewsOf } from '../inspect/server-view.ts';
import { isSharedByGit } from '../inspect/shared-files.ts';
import { type ChangeStore, configKey } from '../store/change-store.ts';
import { readRecord } from '../store/records.ts';

export interface StatusFile {
  readonly client: string;
  /** What events call other clients. */
  readonly otherEventNames: readonly EventClient[];
  readonly title: string;
  readonly path: string;
  readonly scope: 'user' | 'project';
  /** The folder of the project that the file belongs to. */
  readonly project?: string;
  /** Git shares it with others, so that only `sub import --shared` governs its servers. */
  readonly isShared: boolean;
  readonly servers: readonly ServerView[];
  /** How it came about; null without a record. */
  readonly change: 'import' | 'wrap' | null;
  /** The `sub wrap` that has rewritten it and still runs. */
  readonly wrapPid: number | null;
}

export interface UnreadableFile {
  readonly title: string;
  readonly scope: 'user' | 'project';
  readonly problem: Failure;
}

export interface Adoptions {
  readonly files: readonly StatusFile[];
  readonly unreadable: readonly UnreadableFile[];
  readonly problems: readonly Failure[];
}

interface StatusOptions extends AdoptionPlace, LooseOptions {
  /** The `sub` that asks: only what starts that one counts as governed. */
  readonly own: OwnCall;
}

/** The configs of all clients, and every other one that there is a record of. */
export function adoptionStatus(place: StatusOptions): Adoptions {
  const store = storeAt(place.paths);
  const here = clientPlace(place);
  const { found, problems } = findConfigs({ place: here, clients: CLIENTS });
  const keys = found.map(({ target }) => configKey(target));
  const others = recordedConfigs(store, new Set([...keys, ...problems.map(({ path }) => path)]));
  const files = [...found, ...others.filter((one) => one.kind === 'found')];
  const broken = [...problems, ...others.filter((one) => one.kind === 'failure')];
  const known = CLIENTS.flatMap((client) => client.files(here).map((file) => ({ client, file })));
  const unreadable = broken.map((problem): UnreadableFile => {
    const own = known.find(({ file }) => file.path === problem.path);
    return {
      title: own?.client.title ?? problem.path,
      scope: own?.file.scope ?? 'user',
      problem: withCode('SUB_CLIENT_CONFIG', problem),
    };
  });
  return {
    files: files.map((one) => fileOf(one, store, place)),
    unreadable,
    problems: unreadable.map(({ problem }) => problem),
  };
}

function fileOf(found: FoundConfig, store: ChangeStore, asking: StatusOptions): StatusFile {
  const { client, file, target, config } = found;
  const record = readRecord(configKey(target), store.paths);
  const { kind = null, owner } = record.kind === 'record' ? record.record : {};
  const isLive = owner !== undefined && isProcessAlive(owner, store.system);
  const project = file.scope === 'project' ? projectOfFile(file) : undefined;
  return {
    client: client.id,
    otherEventNames: otherEventNames(client),
    title: client.id === 'custom' ? 'Other client' : client.title,
    path: file.path,
    scope: file.scope,
    ...(project !== undefined && { project }),
    isShared: kind === null && isSharedByGit(file, asking.env),
    servers: viewsOf(config, { ...asking, loose: looseIn(found, asking) }),
    change: kind,
    wrapPid: isLive ? owner.pid : null,
  };
}
