// The skills, servers and tools in force, how a person revokes them and adds a skill of others, over the socket.
import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { quote, visible } from '@subluminal/core/visible';
import type { StewardConfig } from '../config/index.ts';
import type { ControlHandlers } from '../control/index.ts';
import { expansionInForce, planRevocation, readForeignSkill } from '../expansion/index.ts';
import type { ConfigProposals, ProposalDesk } from '../proposals/index.ts';
import type { ChangeSet } from '../staging/index.ts';
import { changeAnswer } from './change-handlers.ts';

type ExpansionMethod = Extract<keyof ControlHandlers, `expansion${string}`>;

export interface ExpansionControl {
  readonly desk: ProposalDesk;
  readonly proposals: Pick<ConfigProposals, 'propose'>;
  /** As the folder is now. */
  readonly config: () => Promise<StewardConfig>;
  /** Puts what the configuration folder says now in force in the runs that are open. */
  readonly apply: () => Promise<void>;
}

const PLACE_LENGTH_MAX = 300;

export function expansionHandlers(
  control: ExpansionControl,
  show: ControlHandlers['changes/show'],
): Pick<ControlHandlers, ExpansionMethod> {
  const { desk, config, apply } = control;
  return {
    expansion: async () => {
      const { parts, problems } = expansionInForce(await config());
      return { parts: [...parts], problems: [...problems] };
    },
    'expansion/revoke': async ({ kind, name, person: by, channel }) => {
      const revoked = await desk.revoke({ kind, name }, { by, channel });
      if (isFailure(revoked)) return revoked;
      await apply();
      return changeAnswer(revoked, desk.kindOf(revoked));
    },
    'expansion/add-skill': async ({ folder }, signal) => {
      const proposed = await proposeSkill(control, folder);
      return isFailure(proposed) ? proposed : show({ id: proposed.id }, signal);
    },
  };
}

async function proposeSkill(
  { proposals, config }: ExpansionControl,
  folder: string,
): Promise<ChangeSet | Failure> {
  if (!isAbsolute(folder)) return refused(`${quote(folder)} is no absolute path.`);
  const skill = readForeignSkill(folder);
  if (isFailure(skill)) return skill;
  const { name, findings } = skill;
  const secret = findings.find(({ isSecret }) => isSecret);
  // A proposal is kept, and its text goes to the model.
  if (secret !== undefined) return refused(`It holds a secret: ${secret.words}`);
  // It takes the place of a skill with its name as a whole: no file of the old one is left in it.
  const old = planRevocation({ kind: 'skill', name }, await config());
  const fresh = new Set(skill.files.map(({ path }) => path));
  const gone = isFailure(old) ? [] : old.filter(({ path }) => !fresh.has(path));
  const id = randomUUID();
  const why = `A skill of others, from ${visible(folder, PLACE_LENGTH_MAX)}.`;
  return proposals.propose({ key: id, runId: id, why, files: [...skill.files, ...gone] });
}

function refused(message: string): Failure {
  return tableFailure('SUB_STEWARD_EXPANSION', message);
}
