// Loads the configuration of this user and folder.
import { existsSync } from 'node:fs';
import { type Failure, failure } from '@subluminal/contracts';
import { type LoadOptions, type LoadResult, loadConfig } from '@subluminal/plane/config';
import { plural } from '../terminal/text.ts';
import { orThrow } from './command.ts';

export type LoadedConfig = Extract<LoadResult, { readonly ok: true }>;

/** Throws its failure, which names the first problem. */
export async function loadOwnConfig(
  flags: LoadOptions['flags'] = {},
  file?: string,
): Promise<LoadedConfig> {
  if (file !== undefined && !existsSync(file)) {
    return orThrow(failure('SUB_FILE_READ', `${file} does not exist.`, 'Check the path.'));
  }
  const loaded = await loadConfig({ env: process.env, cwd: process.cwd(), flags, file });
  return loaded.ok ? loaded : orThrow(unusableConfig(loaded));
}

/** Names the first problem. */
export function unusableConfig({ problems }: Extract<LoadResult, { readonly ok: false }>): Failure {
  const [first, ...others] = problems;
  if (first === undefined) throw new Error('a configuration that failed has a problem');
  const { code, where, message, fix } = first;
  const more = others.length === 0 ? '' : ` (and ${plural(others.length, 'other problem')})`;
  return failure(code, `${where}: ${message}${more}.`, fix);
}
