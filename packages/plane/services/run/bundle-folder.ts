// The folder of a trace bundle, made before the agent starts: what cannot be kept is told first.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, refuseLink } from '../../os/index.ts';
import { type Refused, refused } from './options.ts';

export const EVENTS_FILE = 'events.jsonl';
const FILES = [EVENTS_FILE, 'policy.json', 'summary.json', 'summary.md'] as const;

/** A bundle that is there stays, unless it is to go. */
export function prepareBundle(dir: string, force: boolean): Refused | undefined {
  const taken = FILES.find((name) => existsSync(join(dir, name)));
  if (taken !== undefined && !force) {
    const message = `${join(dir, taken)} exists already, and is not overwritten.`;
    return refused('SUB_FILE_WRITE', message, 'Choose another folder, or add --force.');
  }
  try {
    refuseLink(dir);
    makeFolders(dir);
    for (const name of FILES) rmSync(join(dir, name), { force: true });
    return undefined;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    if (code === 'ELOOP') {
      const message = `${dir} is a link, and nothing is written through one.`;
      return refused('SUB_FILE_WRITE', message, 'Name the folder itself.');
    }
    const message = `the folder ${dir} cannot be made (${code}).`;
    return refused('SUB_FILE_WRITE', message, 'Check the path and its permissions.');
  }
}
