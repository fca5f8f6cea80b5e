// Configs that only a record tells of: named by their path once, or of another project.
import { dirname } from 'node:path';
import { type Client, type ConfigProblem, clientOf } from '../index.ts';
import { readConfigFile } from '../store/config-file.ts';
import type { Store } from '../store/ports.ts';
import { type FoundRecord, listRecords } from '../store/record.ts';
import type { FoundConfig } from './configs.ts';

/** Without those whose keys or paths are known already. */
export function recordedConfigs(
  { paths }: Store,
  known: ReadonlySet<string>,
): readonly (FoundConfig | ConfigProblem)[] {
  return listRecords(paths).flatMap((one) => {
    if (one.kind === 'problem') return [one];
    if (one.kind !== 'record' || known.has(one.key) || known.has(one.record.path)) return [];
    return [recorded(one)];
  });
}

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

/** The folder of the project that a file belongs to. */
export function projectOf(path: string): string {
  const folder = dirname(path);
  return path.endsWith('.mcp.json') ? folder : dirname(folder);
}
