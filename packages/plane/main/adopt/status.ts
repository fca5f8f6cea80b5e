// `sub status`: which servers of which clients are governed.
import { dirname } from 'node:path';
import { CLIENTS, type Client, type ConfigProblem, clientOf } from '../../clients/index.ts';
import { readConfigFile } from '../../clients/store/config-file.ts';
import { isAlive, keyOf, type Store } from '../../clients/store/ports.ts';
import { type FoundRecord, listRecords, readRecord } from '../../clients/store/record.ts';
import { type FoundConfig, findConfigs } from './configs.ts';
import { type OwnCall, ownProgram } from './own-program.ts';
import { type AdoptPlace, clientPlace, storeAt } from './place.ts';
import { type AdoptProblem, withCode } from './problem.ts';
import { type ServerView, viewsOf } from './server-state.ts';

interface StatusFile {
  readonly client: string;
  readonly title: string;
  readonly path: string;
  readonly scope: 'user' | 'project';
  /** The folder of the project that the file belongs to. */
  readonly project?: string;
  readonly servers: readonly ServerView[];
  /** How it came about; null without a record. */
  readonly change: 'import' | 'wrap' | null;
  /** The `sub wrap` that has rewritten it and still runs. */
  readonly wrapPid: number | null;
}

interface UnreadableFile {
  readonly title: string;
  readonly scope: 'user' | 'project';
  readonly problem: AdoptProblem;
}

interface Adoptions {
  readonly files: readonly StatusFile[];
  readonly unreadable: readonly UnreadableFile[];
  readonly problems: readonly AdoptProblem[];
}

/** The configs of all clients, and every other one that there is a record of. */
function adoptionStatus(place: AdoptPlace): Adoptions {
  const store = storeAt(place.paths);
  const here = clientPlace(place);
  const { found, problems } = findConfigs({ place: here, clients: CLIENTS });
  const keys = new Set(found.map(({ target }) => keyOf(target, store.ports)));
  const paths = new Set(problems.map(({ path }) => path));
  const others = listRecords(store.paths).flatMap((one) => {
    if (one.kind === 'problem') return [one];
    if (one.kind !== 'record' || keys.has(one.key) || paths.has(one.record.path)) return [];
    return [recorded(one)];
  });
  const files = [...found, ...others.filter((one) => one.kind === 'found')];
  const broken = [...problems, ...others.filter((one) => one.kind === 'problem')];
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
    files: files.map((one) => fileOf(one, store)),
    unreadable,
    problems: unreadable.map(({ problem }) => problem),
  };
}

/** A config that was named by its path, or one of another project. */
function recorded({ record }: FoundRecord): FoundConfig | ConfigProblem {
  const { path, format } = record;
  const client = clientOf(record.client);
  const read = readConfigFile(path);
  if (read.kind === 'problem') return read;
  if (read.kind === 'missing') {
    const message = `${path} is gone, and there is a record of how sub has changed it.`;
    return { kind: 'problem', path, message, fix: `See \`sub restore ${client.id}\`.` };
  }
  const file = { client: client.id, scope: scopeOf(client, path), path, format };
  const config = client.read(file, read.text);
  if (config.kind === 'problem') return config;
  return { kind: 'found', client, file, target: read.target, config };
}

/** Where the files of projects stand in them. */
const IN_PROJECT = /[\\/](?:\.mcp\.json|\.(?:vscode|cursor|codex|zed)[\\/][^\\/]+)$/;

function scopeOf({ id }: Client, path: string): 'user' | 'project' {
  return id !== 'custom' && IN_PROJECT.test(path) ? 'project' : 'user';
}

function projectOf(path: string): string {
  const folder = dirname(path);
  return path.endsWith('.mcp.json') ? folder : dirname(folder);
}

function fileOf({ client, file, target, config }: FoundConfig, store: Store): StatusFile {
  const record = readRecord(keyOf(target, store.ports), store.paths);
  const { kind = null, owner } = record.kind === 'record' ? record.record : {};
  const isLive = owner !== undefined && isAlive(owner, store.ports);
  return {
    client: client.id,
    title: client.id === 'custom' ? 'Other client' : client.title,
    path: file.path,
    scope: file.scope,
    ...(file.scope === 'project' && { project: projectOf(file.path) }),
    servers: viewsOf(config),
    change: kind,
    wrapPid: isLive ? owner.pid : null,
  };
}

/** Whether an entry starts the `sub` that asks; true where that cannot be told. */
function startsOwn(program: readonly string[], own: OwnCall): boolean {
  const ours = ownProgram(own);
  const script = program.at(-1);
  if (ours.kind === 'not_found' || script === undefined) return true;
  const theirs = ownProgram({ runtime: own.runtime, script });
  return theirs.kind === 'not_found' || theirs.words.at(-1) === ours.words.at(-1);
}

export type { Adoptions, StatusFile, UnreadableFile };
export { adoptionStatus, startsOwn };
