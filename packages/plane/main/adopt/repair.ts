// Before any other command: what killed processes have left in configs is put right.

import { type Repaired, repairAll } from '../../clients/store/repair.ts';
import { type AdoptPlace, storeAt } from './place.ts';

/** One line for each thing that was done, for people. */
function repairHome({ paths }: Pick<AdoptPlace, 'paths'>): readonly string[] {
  return repairAll(storeAt(paths)).map(lineOf);
}

function lineOf(repaired: Repaired): string {
  switch (repaired.what) {
    case 'restored': {
      const how =
        repaired.how === 'merged' ? ' What others have changed in it since was kept.' : '';
      return `a \`sub wrap\` that was killed had left ${repaired.path} rewritten; it was put back.${how}`;
    }
    case 'dropped':
      return `a change of ${repaired.path} had been cut off before it was made; nothing was left of it to undo.`;
    case 'swept':
      return `a change of ${repaired.path} had been cut off; the draft that it left was removed.`;
    case 'problem': {
      const { message, fix } = repaired.problem;
      return `${message} ${fix} [SUB_CLIENT_RESTORE]`;
    }
  }
}

export { repairHome };
