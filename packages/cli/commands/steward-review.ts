// `sub steward review`: the changes that Steward proposes, and what a person decides about them.
import { type Failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
import { findId } from '@subluminal/plane/approvals';
import { userName } from '../approvals/desk.ts';
import {
  badUsage,
  defineCommand,
  EXIT,
  type Outcome,
  optional,
  orThrow,
  printout,
} from '../input/command.ts';
import { mayAct } from '../input/require-person.ts';
import { changeText } from '../steward/change-text.ts';
import { stewardAnswer } from '../steward/steward-home.ts';
import type { Io } from '../terminal/io.ts';
import { harmlessLine } from '../terminal/text.ts';

const ACTIONS = ['list', 'show', 'approve', 'reject', 'rollback'] as const;

type Change = StewardAnswers['changes']['changes'][number];

export const review = defineCommand({
  description:
    'Shows and decides the changes that Steward proposes: of files, and of its configuration, skills, servers and tools. Nothing of them is done before you approve. `list` is what it does alone; `show ID` prints all of a change; `approve ID` makes it, `reject ID` drops it, and `rollback ID` restores what was before an approved one. Each decision is on record.',
  args: {
    action: optional('list, show, approve, reject or rollback; list'),
    id: optional('The change, or the start or end of its id'),
  },
  options: {
    all: 'Also list changes that were decided',
    force: 'With rollback: also over what somebody has changed since; files alone',
  },
  examples: [
    'sub steward review',
    'sub steward review show 3f2a',
    'sub steward review approve 3f2a',
  ],
  exitCodes: {
    0: 'it is listed, shown or decided',
    2: 'wrong flags, no such change, no terminal, or Steward does not run',
  },
  requires: 'person',
  run: async ({ args: { action: word, id }, options }, io) => {
    const action = ACTIONS.find((one) => one === (word || 'list'));
    if (action === undefined)
      return badUsage(`\`${word}\` is no action.`, `One of ${ACTIONS.join(', ')}.`);
    const { changes } = orThrow(await stewardAnswer('changes', {}));
    if (action === 'list') return listOutcome(changes, options.all);
    const found = orThrow(namedChange(changes, id));
    if (action === 'show') return showOutcome(found);
    return decide(found, { action, isForced: options.force }, io);
  },
});

function listOutcome(all: readonly Change[], isAll: boolean): Outcome {
  const changes = all.filter(({ state }) => isAll || state === 'open');
  const lines = changes.map(({ id, kind, state, paths, why }) =>
    harmlessLine(`${id}  ${kind}  ${state}  ${paths.join(', ')}${why === '' ? '' : `: ${why}`}`),
  );
  return printout({ changes }, lines.join('') || 'No change waits for you.\n');
}

function namedChange(changes: readonly Change[], text: string): string | Failure {
  const ids = changes.map(({ id }) => id);
  const found = text === '' ? { kind: 'none' as const } : findId(ids, text);
  if (found.kind === 'id') return found.id;
  const problem = found.kind === 'none' ? 'names no change.' : 'fits several changes.';
  return badUsage(`\`${text}\` ${problem}`, 'Give an id of `sub steward review list --all`.');
}

async function showOutcome(id: string): Promise<Outcome> {
  const view = orThrow(await stewardAnswer('changes/show', { id }));
  return printout(view, changeText(view));
}

interface Decision {
  readonly action: 'approve' | 'reject' | 'rollback';
  readonly isForced: boolean;
}

async function decide(id: string, { action, isForced }: Decision, io: Io): Promise<Outcome> {
  const forbidden = mayAct('terminal', io);
  if (forbidden !== undefined) return forbidden;
  const who = { id, person: userName(), channel: 'terminal' } as const;
  const decided = await {
    approve: async () => {
      // It is what stands there now: `show` has printed it, and so does this.
      const view = orThrow(await stewardAnswer('changes/show', { id }));
      io.err.write(changeText(view));
      return stewardAnswer('changes/approve', { ...who, sha256: view.sha256 });
    },
    reject: () => stewardAnswer('changes/reject', who),
    rollback: () => stewardAnswer('changes/rollback', { ...who, is_forced: isForced }),
  }[action]();
  if (isFailure(decided)) return decided;
  const text = harmlessLine(`${decided.id} is ${decided.state.replaceAll('_', ' ')}.`);
  return printout({ change: decided }, text, EXIT.fine);
}
