// `sub steward review`: the changes that Steward proposes, what a person decides about them, and what is in force of
// skills, servers and tools.
import { type Failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
import { findId } from '@subluminal/plane/approvals';
import {
  badUsage,
  defineCommand,
  type Outcome,
  optional,
  orThrow,
  printout,
} from '../input/command.ts';
import { mayAct } from '../input/require-person.ts';
import { changeText } from '../steward/change-text.ts';
import {
  approveChange,
  decidedText,
  rejectChange,
  terminalPerson,
} from '../steward/decide-change.ts';
import { stewardAnswer } from '../steward/steward-home.ts';
import type { Io } from '../terminal/io.ts';
import { harmlessLine } from '../terminal/text.ts';

const ACTIONS = ['list', 'show', 'approve', 'reject', 'rollback', 'revoke'] as const;
/** Each goes with one action. */
const FLAGS = [
  ['all', 'list'],
  ['active', 'list'],
  ['force', 'rollback'],
] as const;
const KINDS = ['skill', 'server', 'tool'] as const;

type Change = StewardAnswers['changes']['changes'][number];

export const review = defineCommand({
  description:
    'Shows and decides the changes that Steward proposes: of files, and of its configuration, skills, servers and tools. Nothing of them is done before you approve. `list` is what it does alone; `show ID` prints all of a change; `approve ID` makes it, `reject ID` drops it, and `rollback ID` restores what was before an approved one. `list --active` shows the skills, servers and tools in force, and `revoke KIND NAME` takes one out, at once. Each decision is on record.',
  args: {
    action: optional('list, show, approve, reject, rollback or revoke; list'),
    id: optional('The change, or the start or end of its id; with revoke: skill, server or tool'),
    name: optional('With revoke: the name of the skill, server or tool'),
  },
  options: {
    all: 'Also list changes that were decided',
    active: 'List the skills, servers and tools in force instead',
    force: 'With rollback: also over what somebody has changed since; files alone',
  },
  examples: [
    'sub steward review',
    'sub steward review show 3f2a',
    'sub steward review approve 3f2a',
    'sub steward review list --active',
    'sub steward review revoke skill insurance-claims',
  ],
  exitCodes: {
    0: 'it is listed, shown, decided or revoked',
    2: 'wrong flags, no such change or part, no terminal, or Steward does not run',
  },
  requires: 'person',
  run: async ({ args: { action: word, id, name }, options }, io) => {
    const action = ACTIONS.find((one) => one === (word || 'list'));
    if (action === undefined)
      return badUsage(`\`${word}\` is no action.`, `One of ${ACTIONS.join(', ')}.`);
    for (const [flag, owner] of FLAGS) {
      if (options[flag] && action !== owner)
        return badUsage(`--${flag} goes with ${owner}.`, 'Leave it out.');
    }
    if (action === 'list' && id !== '')
      return badUsage('`list` takes no id.', 'Run `sub steward review show ID`.');
    if (options.active) return activeOutcome();
    if (action === 'revoke') return revoke(id, name, io);
    if (name !== '') return badUsage(`\`${action}\` takes one id.`, 'Leave out the rest.');
    const { changes } = orThrow(await stewardAnswer('changes', {}));
    if (action === 'list') return listOutcome(changes, options.all);
    const found = orThrow(namedChange(changes, id));
    if (action === 'show') return showOutcome(found, io);
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

async function activeOutcome(): Promise<Outcome> {
  const active = orThrow(await stewardAnswer('expansion', {}));
  const lines = [
    ...active.parts.map(({ kind, name, about }) => harmlessLine(`${kind}  ${name}  ${about}`)),
    ...active.problems.map((words) => harmlessLine(`not used: ${words}`)),
  ];
  return printout(active, lines.join('') || 'No skill, server or tool was added.\n');
}

async function revoke(word: string, name: string, io: Io): Promise<Outcome> {
  const kind = KINDS.find((one) => one === word);
  if (kind === undefined || name === '')
    return badUsage(
      '`revoke` takes skill, server or tool, and a name.',
      'See `sub steward review list --active`.',
    );
  const forbidden = mayAct('terminal', io);
  if (forbidden !== undefined) return forbidden;
  const change = await stewardAnswer('expansion/revoke', { kind, name, ...terminalPerson() });
  if (isFailure(change)) return change;
  const text = `The ${kind} ${name} is revoked. \`sub steward review rollback ${change.id}\` brings it back.`;
  return printout({ change }, harmlessLine(text));
}

function namedChange(changes: readonly Change[], text: string): string | Failure {
  const ids = changes.map(({ id }) => id);
  const fix = 'Give an id of `sub steward review list --all`.';
  if (text === '') return badUsage('the id of the change is missing.', fix);
  const found = findId(ids, text);
  if (found.kind === 'id') return found.id;
  const problem = found.kind === 'none' ? 'names no change.' : 'fits several changes.';
  return badUsage(`\`${text}\` ${problem}`, fix);
}

async function showOutcome(id: string, io: Io): Promise<Outcome> {
  const view = orThrow(await stewardAnswer('changes/show', { id }));
  return printout(view, changeText(view, io.out.colors));
}

interface Decision {
  readonly action: 'approve' | 'reject' | 'rollback';
  readonly isForced: boolean;
}

async function decide(id: string, { action, isForced }: Decision, io: Io): Promise<Outcome> {
  const forbidden = mayAct('terminal', io);
  if (forbidden !== undefined) return forbidden;
  const decided = await {
    approve: async () => {
      // It is what stands there now: `show` has printed it, and so does this.
      const view = orThrow(await stewardAnswer('changes/show', { id }));
      io.err.write(changeText(view, io.err.colors));
      return approveChange(view);
    },
    reject: () => rejectChange(id),
    rollback: () =>
      stewardAnswer('changes/rollback', { id, is_forced: isForced, ...terminalPerson() }),
  }[action]();
  return isFailure(decided)
    ? decided
    : printout({ change: decided }, harmlessLine(decidedText(decided)));
}
