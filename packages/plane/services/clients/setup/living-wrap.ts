// Shims of a `sub wrap` in a config that this home has no record of: the session may live all the
// same, with another SUB_HOME.

import { fallbackRunDir } from '../../../stores/runs/agent-file.ts';
import { isWrapId, readWrapFile } from '../../../stores/runs/wrap-file.ts';
import type { ReadConfig } from '../index.ts';
import type { AdoptPlace } from './place.ts';
import { type AdoptProblem, adoptProblem } from './problem.ts';

type Home = Pick<AdoptPlace, 'env' | 'paths'>;

/** Undefined when the sessions of all its entries are over. */
export function livingWrap(
  { file, entries }: ReadConfig,
  { env, paths }: Home,
): AdoptProblem | undefined {
  // Whatever else stands there, no session has written it.
  const ids = new Set(entries.flatMap(({ governed }) => governed?.wrapId ?? []).filter(isWrapId));
  for (const runDir of new Set([paths.run, fallbackRunDir(env)])) {
    for (const id of ids) {
      const session = readWrapFile(runDir, id);
      if (session.kind === 'over') continue;
      if (session.kind === 'live') return inUse(file.path, session.owner.pid);
      const message = `whether ${file.path} is in use by a \`sub wrap\` cannot be told: ${session.message}.`;
      return adoptProblem('SUB_CLIENT_LOCKED', message, 'If none runs, remove that file.');
    }
  }
  return undefined;
}

/** Whether an entry names a session of `sub wrap` that still runs. */
export function isLiveSession(id: string, { env, paths }: Home): boolean {
  if (!isWrapId(id)) return false;
  return [paths.run, fallbackRunDir(env)].some((dir) => readWrapFile(dir, id).kind === 'live');
}

function inUse(path: string, pid: number): AdoptProblem {
  return adoptProblem(
    'SUB_CLIENT_LOCKED',
    `${path} is in use by a \`sub wrap\` with another SUB_HOME (process ${pid}).`,
    'Try again when that one has ended: it puts the config back itself.',
  );
}
