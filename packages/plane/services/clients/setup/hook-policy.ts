// The policy of hooks where nobody names one: that of the hooks which are there, else that of the user's servers.
import { existsSync } from 'node:fs';
import type { HookFile } from '../hooks/types.ts';
import type { Client } from '../index.ts';
import { type ChangeStore, configKey } from '../store/change-store.ts';
import { readConfigFile } from '../store/config-file.ts';
import { readRecord } from '../store/records.ts';
import type { HookChange } from '../types.ts';
import type { StatusFile } from './status.ts';

export interface HookPolicy {
  readonly path?: string;
  /** Where it is from, or why there is none although servers have one; a sentence. */
  readonly note?: string;
}

/** As it was written down: the file itself could have been changed by anybody. */
export function recordedHooks(
  { path, part }: HookFile,
  store: ChangeStore,
): HookChange | undefined {
  const read = readConfigFile(path);
  if (read.kind !== 'read') return undefined;
  const found = readRecord(configKey(read.target, part), store.paths);
  return found.kind === 'record' ? found.record.hooks : undefined;
}

/** Those of single projects are not for all projects, as hooks are. */
export function policyOfServers({ id, title }: Client, files: readonly StatusFile[]): HookPolicy {
  const servers = files
    .filter(({ client, scope }) => client === id && scope === 'user')
    .flatMap((file) => file.servers)
    .filter(({ state, project }) => state === 'governed' && project === undefined);
  const named = [...new Set(servers.flatMap(({ policy }) => policy ?? []))];
  const [path, ...others] = named;
  if (path === undefined) return {};
  const whose = `servers of ${title}`;
  const open = 'the hooks find theirs from the folder of the agent: name one with --policy.';
  if (others.length > 0)
    return { note: `The ${whose} have ${named.join(', ')} for policies; ${open}` };
  if (!existsSync(path)) return { note: `The policy of the ${whose}, ${path}, is gone; ${open}` };
  return { path, note: `The hooks of ${title} use ${path}, as its servers do.` };
}
