// `sub steward memory`: what Steward remembers, and what only its user may do with that.
import { type Failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
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
import { terminalPerson as who } from '../steward/decide-change.ts';
import { stewardAnswer } from '../steward/steward-home.ts';
import type { Io } from '../terminal/io.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

type Memories = StewardAnswers['memory/search']['entries'];

interface Words {
  readonly first: string;
  readonly second: string;
  readonly isId: boolean;
}

interface MemoryAction {
  /** The words that it takes. */
  readonly takes: 0 | 1 | 2;
  /** It changes something, so a person does it. */
  readonly changes: boolean;
  readonly run: (words: Words) => Promise<Outcome>;
}

const ACTIONS: { readonly [name: string]: MemoryAction } = {
  search: { takes: 1, changes: false, run: search },
  core: { takes: 0, changes: false, run: core },
  review: { takes: 0, changes: false, run: review },
  audit: { takes: 0, changes: false, run: audit },
  set: { takes: 2, changes: true, run: set },
  forget: { takes: 1, changes: true, run: forget },
  confirm: {
    takes: 1,
    changes: true,
    run: ({ first }) => done('memory/confirm', { id: first, ...who() }),
  },
  accept: { takes: 1, changes: true, run: ({ first }) => decide(first, 'accept') },
  reject: { takes: 1, changes: true, run: ({ first }) => decide(first, 'reject') },
};
const NAMES = Object.keys(ACTIONS).join(', ');

export const memory = defineCommand({
  description:
    'Shows and changes what Steward remembers. `search TEXT` finds entries with their origin and trust; `core` lists the facts that you have set, and `set NAME VALUE` sets one (an empty value takes it out); `review` lists what waits for you, `confirm ID` vouches for an entry, and `accept ID` or `reject ID` decides what Steward asks for; `forget TEXT` removes everything that holds this text, for good, and `forget --id ID` one entry; `audit` looks for planted instructions, contradictions and tampering.',
  args: {
    action: `One of ${NAMES}`,
    first: optional('The text, name or id'),
    second: optional('The value of `set`'),
  },
  options: { id: 'With forget: the word is the id of an entry' },
  examples: [
    'sub steward memory search dentist',
    'sub steward memory set city Ghent',
    'sub steward memory forget Bruges',
    'sub steward memory audit',
  ],
  exitCodes: {
    0: 'it is shown or done',
    1: 'the audit has findings',
    2: 'wrong flags, no such entry, no terminal, or Steward does not run',
  },
  requires: 'person',
  run: async ({ args: { action: name, first, second }, options: { id: isId } }, io) => {
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) return badUsage(`\`${name}\` is no action.`, `One of ${NAMES}.`);
    const problem =
      wordsProblem(name, action, { first, second, isId }) ?? personProblem(action, io);
    return problem ?? action.run({ first, second, isId });
  },
});

function wordsProblem(name: string, { takes }: MemoryAction, { first, second, isId }: Words) {
  if (isId && name !== 'forget') return badUsage('--id is for `forget`.', 'Leave it out.');
  // An empty value of `set` takes the fact out.
  const isRight = takes === 0 ? first === '' : first !== '' && (takes === 2 || second === '');
  if (isRight) return undefined;
  return badUsage(
    `\`${name}\` takes ${plural(takes, 'word')}.`,
    'See `sub steward memory --help`.',
  );
}

function personProblem({ changes }: MemoryAction, io: Io): Failure | undefined {
  return changes ? mayAct('terminal', io) : undefined;
}

async function search({ first: text }: Words): Promise<Outcome> {
  const { entries } = orThrow(await stewardAnswer('memory/search', { text }));
  return printout({ entries }, entriesText(entries) || 'Nothing is remembered about this.\n');
}

async function core(): Promise<Outcome> {
  return factsOutcome(orThrow(await stewardAnswer('memory/core', {})));
}

async function set({ first: key, second: value }: Words): Promise<Outcome> {
  return factsOutcome(orThrow(await stewardAnswer('memory/core/set', { key, value, ...who() })));
}

function factsOutcome({ facts }: StewardAnswers['memory/core']): Outcome {
  const lines = facts.map(({ key, value }) => harmlessLine(`${key}: ${value}`));
  return printout({ facts }, lines.join('') || 'No fact is set.\n');
}

async function review(): Promise<Outcome> {
  const waiting = orThrow(await stewardAnswer('memory/review', {}));
  const asked = waiting.requests.map(({ id, kind, text, reason }) =>
    harmlessLine(`${id}  asks to ${kind === 'forget' ? 'forget' : 'set'}: ${text} (${reason})`),
  );
  const text = `${entriesText(waiting.entries)}${asked.join('')}`;
  return printout(waiting, text || 'Nothing waits for you.\n');
}

const LEDGER = 'The ledger keeps its record of calls until it is pruned: sub ledger prune\n';

async function forget({ first, isId }: Words): Promise<Outcome> {
  const what = isId ? { ids: [first] } : { containing: first };
  const told = orThrow(await stewardAnswer('memory/forget', { ...what, ...who() }));
  const { entries, core_facts, requests, journal_texts, journal_texts_left: left } = told;
  if (isId && entries === 0) {
    return badUsage(`\`${first}\` names no entry.`, 'Give an id of `sub steward memory search`.');
  }
  if (entries + core_facts + requests + journal_texts + left === 0) {
    return printout(told, 'Nothing holds this text.\n');
  }
  const parts = [entryCount(entries), plural(core_facts, 'core fact'), plural(requests, 'request')];
  const texts = `also taken out of ${plural(journal_texts, 'text')} of conversations and tasks`;
  const rest = `A task that is under way still has it in ${plural(left, 'text')}: forget it again when the task has ended.\n`;
  const text = `Forgotten: ${parts.join(', ')}; ${texts}.\n${left === 0 ? '' : rest}${LEDGER}`;
  return printout(told, text);
}

async function audit(): Promise<Outcome> {
  const report = orThrow(await stewardAnswer('memory/audit', {}));
  const { checked, findings, unlisted } = report;
  const lines = findings.map(({ kind, id, detail }) => harmlessLine(`${kind}  ${id}  ${detail}`));
  const more = unlisted === 0 ? '' : `and ${unlisted} more\n`;
  const found = plural(findings.length + unlisted, 'finding');
  const text = `${lines.join('')}${more}${entryCount(checked)} checked, ${found}.\n`;
  return printout(report, text, findings.length === 0 ? EXIT.fine : EXIT.findings);
}

function decide(id: string, verdict: 'accept' | 'reject'): Promise<Outcome> {
  return done('memory/decide', { id, verdict, ...who() });
}

async function done(
  ...asked: Parameters<typeof stewardAnswer<'memory/confirm' | 'memory/decide'>>
): Promise<Outcome> {
  const told = await stewardAnswer(...asked);
  return isFailure(told) ? told : printout(told, 'Done.\n');
}

function entriesText(entries: Memories): string {
  return entries
    .map(({ id, text, provenance, trust, state, reasons }) => {
      const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
      return harmlessLine(
        `${id}  ${provenance}, trust ${trust.toFixed(2)}, ${state}${why}: ${text}`,
      );
    })
    .join('');
}

function entryCount(count: number): string {
  return `${count} ${count === 1 ? 'entry' : 'entries'}`;
}
