// Before any other command: what killed processes have left in configs is put right, or told to those
// who only look.

import { livingAgents } from '../../../stores/runs/living-agents.ts';
import { runOfWrap } from '../../../stores/runs/wrap-file.ts';
import { leftBehind, type Repaired, repairAll } from '../store/repair.ts';
import { missingEntriesText } from './missing-entries.ts';
import { type AdoptPlace, type SecretPlace, storeAt } from './place.ts';
import { repairBindings, unrepairedBindings } from './secrets/pending.ts';

type Home = Pick<AdoptPlace, 'paths'>;

/** One line for each thing that was done, for people. */
export function repairHome({ paths }: Home): readonly string[] {
  // An agent that has ended meanwhile is no reason for a warning, so it is looked for afterwards.
  return repairAll(storeAt(paths)).map((repaired) => lineOf(repaired, paths));
}

/** One line for each thing that `repairHome` would put back; nothing is changed. */
export function unrepaired({ paths }: Home): readonly string[] {
  return leftBehind(storeAt(paths)).map(
    (path) =>
      `${path} was left rewritten by a \`sub wrap\` that was killed; \`sub unwrap\` puts it back.`,
  );
}

function lineOf(repaired: Repaired, paths: AdoptPlace['paths']): string {
  switch (repaired.what) {
    case 'restored': {
      const how =
        repaired.how === 'merged' ? ' What others have changed in it since was kept.' : '';
      const lost = missingEntriesText(repaired);
      const words = `a \`sub wrap\` that was killed had left ${repaired.path} rewritten; it was put back.${how}`;
      return `${words}${lost === undefined ? '' : ` ${lost}`}${livingWords(repaired.wrapId, paths)}`;
    }
    case 'dropped':
      return (
        missingEntriesText(repaired) ??
        `${repaired.path} is as it was before sub changed it; there was nothing to undo.`
      );
    case 'swept':
      return `a change of ${repaired.path} had been cut off; the draft that it left was removed.`;
    case 'elsewhere':
      return `${repaired.path} is rewritten by a \`sub wrap\` in another container (process ${repaired.pid} there), which cannot be seen from here: it was left as it is.`;
    case 'problem': {
      const { message, fix } = repaired.problem;
      return `${message} ${fix} [SUB_CLIENT_RESTORE]`;
    }
  }
}

/** An agent that outlives its `sub wrap` reads the config again whenever it likes. */
export function livingWords(wrapId: string | undefined, { run }: AdoptPlace['paths']): string {
  const runId = wrapId === undefined ? undefined : runOfWrap(run, wrapId);
  const pids = runId === undefined ? [] : livingAgents(run, runId);
  if (pids.length === 0) return '';
  return ` Its agent (process ${pids.join(', ')}) still runs: the servers that it starts from now on are NOT governed. End it, and start it again.`;
}

/** Takes out what killed imports have bound for nothing; the same lines. */
export function repairSecrets({ paths }: Pick<SecretPlace, 'paths'>): Promise<readonly string[]> {
  return repairBindings({ paths, store: storeAt(paths) });
}

export function unrepairedSecrets({ paths }: Home): readonly string[] {
  return unrepairedBindings(storeAt(paths));
}
