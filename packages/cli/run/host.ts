// Runs an agent, prints how the run ended, and ends with its exit code.
import { constants } from 'node:os';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Client } from '@subluminal/plane/clients';
import type { ChangedDefinition } from '@subluminal/plane/ledger';
import type { RunSummary } from '@subluminal/plane/ledger/export';
import type {
  AgentEnd,
  AgentStartFailure,
  EndedRun,
  RunOptions,
  RunResult,
  TracePlace,
} from '@subluminal/plane/run';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { costText } from '../ledger/turn-text.ts';
import { changeLine } from '../surface/change-line.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { plural } from '../terminal/text.ts';
import type { RunInput } from './options.ts';
import { outliveReaders } from './output.ts';

/** As a shim ends whose policy has ended the run. */
const EXIT_STOPPED = 3;
const SHOWN_MAX = 3;
const NO_SERVER = 'no server of this run went through Subluminal';

type RunFlags = RunInput['options'];

interface HostOptions extends RunFlags {
  readonly agent: Pick<RunOptions, 'command' | 'cwd' | 'env' | 'hooks'> & {
    /** Found by the command unless given. */
    readonly client?: Client;
    readonly configPath?: string | undefined;
  };
}

export async function hostRun(
  start: () => Promise<RunResult>,
  options: HostOptions,
  io: Io,
): Promise<Outcome> {
  outliveReaders();
  const result = await start();
  if (isFailure(result)) return notStarted(result, io);
  const harms = result.policyHarms.map(({ text }) => text);
  const changes = changesOf(result).map(changeLine);
  const lines = [...result.warnings, ...harms, ...changes, ...closingLines(result, options)];
  for (const line of lines) warn(io, line);
  const unseen = options.quiet ? undefined : await unseenBy(options.agent, result.isHooked);
  if (unseen !== undefined) warn(io, unseen);
  return done(exitCodeOf(result, options));
}

/** Reading configs loads more than most agents need. */
async function unseenBy(
  agent: HostOptions['agent'],
  isHooked: boolean,
): Promise<string | undefined> {
  const { clientStartedBy } = await import('@subluminal/plane/clients');
  const client = agent.client ?? clientStartedBy(agent.command);
  if (client === undefined) return undefined;
  const { unseenByClient } = await import('@subluminal/plane/clients/setup');
  return unseenByClient({ ...agent, client, isHooked });
}

/** An agent that a shell could not start either has the exit code of a shell. */
export function notStarted(failed: Failure & Partial<AgentStartFailure>, io: Io): Outcome {
  reportFailure(failed, io);
  return done(failed.exitCode ?? EXIT.usage);
}

/** The policy weighs most, then --strict, then a trace with gaps, then the code of the agent. */
function exitCodeOf(ended: EndedRun, options: HostOptions): number {
  if (ended.status === 'TERMINATED') return EXIT_STOPPED;
  if (options.strict && strictLines(ended, options).length > 0) return EXIT_STOPPED;
  return ended.isWhole ? agentCode(ended.agent) : EXIT.usage;
}

function agentCode({ code, signal }: AgentEnd): number {
  return signal === null ? (code ?? EXIT.findings) : 128 + constants.signals[signal];
}

function closingLines(ended: EndedRun, options: HostOptions): readonly string[] {
  const { runId, account, trace } = ended;
  const strict = options.strict ? strictLines(ended, options) : [];
  if (options.quiet) return strict;
  const totals = account.kind === 'events' ? account.summary.totals : account.totals;
  const refused = totals.calls_blocked + totals.calls_throttled;
  const heldBack = account.kind === 'events' ? account.summary.answers_held_back : 0;
  const held = heldBack === 0 ? '' : `, ${plural(heldBack, 'answer')} held back`;
  const turns = account.kind === 'events' ? turnWords(account.summary.turns) : '';
  const counts = `${plural(totals.calls_total, 'call')}${turns}, ${refused} refused${held}`;
  const notes = notesOn(ended);
  const words = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return [...strict, `run ${runId}: ${counts}${words}.${whereOf(trace, ended)}`];
}

function turnWords(turns: RunSummary['turns']): string {
  return turns === undefined
    ? ''
    : ` (${plural(turns.total, 'turn')} of models, ${costText(turns.cost_micros)})`;
}

/** Without these notes, the counts would mislead. */
function notesOn({ account, shims, isHooked, hasPolicy }: EndedRun): readonly string[] {
  const notes: string[] = [];
  if (account.kind === 'counted') notes.push(`as the hub counted: ${account.reason}`);
  if (account.kind === 'at_least') notes.push(`at least: ${account.reason}`);
  if (shims === 0 && !isHooked) notes.push(NO_SERVER);
  else if (!hasPolicy) notes.push('no policy: calls were only recorded');
  return notes;
}

function whereOf(trace: TracePlace, { runId, account }: EndedRun): string {
  switch (trace.kind) {
    case 'file':
    case 'bundle':
      return ` Trace: ${trace.path}`;
    case 'ledger':
      // Events that have not reached the ledger cannot be found there.
      return account.kind === 'events' ? ` Trace: sub query --run ${runId}` : '';
    case 'none':
      return '';
  }
}

/** Why --strict fails the run; empty when it does not. */
function strictLines(ended: EndedRun, options: HostOptions): readonly string[] {
  const kinds = new Set(ended.policyHarms.map(({ kind }) => kind));
  const harms = [...kinds].map((kind) => `strict: a policy was ${kind}.`);
  const count = changesOf(ended).length;
  const changes = count === 0 ? [] : [`strict: ${plural(count, 'definition')} changed.`];
  return [...harms, ...changes, ...violationLines(ended, options)];
}

function changesOf({ account }: EndedRun): readonly ChangedDefinition[] {
  return account.kind === 'events' ? account.summary.definitions_changed : [];
}

function violationLines({ account, shims }: EndedRun, options: HostOptions): readonly string[] {
  if (account.kind !== 'events') {
    return [`strict: whether there were violations is not known: ${account.reason}.`];
  }
  // Without a shim or a hook, calls may have passed that were never recorded. A hook that came of itself may have been
  // sent by any program.
  const isUnseen = shims === 0 && options.agent.hooks === undefined;
  if (isUnseen && !options['allow-no-server']) {
    return [`strict: ${NO_SERVER}. If it needs none, add --allow-no-server.`];
  }
  const { violations, violations_total, spared, spared_total } = account.summary;
  const count = violations_total + spared_total;
  // An answer that the agent did not get was refused as well.
  const held = account.summary.answers_held_back;
  const heldBack = held === 0 ? [] : [`strict: ${plural(held, 'answer')} held back.`];
  if (count === 0) return heldBack;
  const tallies = new Map<string, number>();
  for (const one of [...violations, ...spared]) {
    const { rule_id, reason_code, server_name, tool_name, action } = one;
    const what = `${rule_id ?? reason_code} (${action}) on ${server_name}/${tool_name}`;
    tallies.set(what, (tallies.get(what) ?? 0) + 1);
  }
  const shown = [...tallies].slice(0, SHOWN_MAX).map(([what, times]) => `${what} ×${times}`);
  const more = tallies.size > SHOWN_MAX ? `, and ${tallies.size - SHOWN_MAX} more` : '';
  return [`strict: ${plural(count, 'violation')}: ${shown.join(', ')}${more}.`, ...heldBack];
}
