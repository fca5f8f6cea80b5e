// What `sub run` says at the end, and the exit code it ends with.
import { constants } from 'node:os';
import type { AgentEnd, EndedRun, TracePlace } from '@subluminal/plane/run';
import { EXIT } from '../input/command.ts';
import { plural } from '../terminal/text.ts';

/** As a shim ends whose policy has ended the run. */
const EXIT_STOPPED = 3;
const SHOWN_MAX = 3;
const NO_SERVER = 'no server of this run went through Subluminal';

interface StrictFlags {
  readonly strict: boolean;
  readonly 'allow-no-server': boolean;
}

/** The policy weighs most, then what --strict found, a trace with gaps, and what the agent said. */
export function exitCodeOf(ended: EndedRun, wish: StrictFlags): number {
  if (ended.status === 'TERMINATED') return EXIT_STOPPED;
  if (wish.strict && strictLines(ended, wish).length > 0) return EXIT_STOPPED;
  return ended.isWhole ? agentCode(ended.agent) : EXIT.usage;
}

function agentCode({ code, signal }: AgentEnd): number {
  return signal === null ? (code ?? EXIT.findings) : 128 + constants.signals[signal];
}

export function closingLines(
  ended: EndedRun,
  wish: StrictFlags & { readonly quiet: boolean },
): readonly string[] {
  const { runId, account, trace } = ended;
  const lines: string[] = [];
  if (wish.strict) lines.push(...strictLines(ended, wish));
  if (wish.quiet) return lines;
  const totals = account.kind === 'events' ? account.summary.totals : account.totals;
  const refused = totals.calls_blocked + totals.calls_throttled;
  const heldBack = account.kind === 'events' ? account.summary.answers_held_back : 0;
  const held = heldBack === 0 ? '' : `, ${plural(heldBack, 'answer')} held back`;
  const counts = `${plural(totals.calls_total, 'call')}, ${refused} refused${held}`;
  const notes = notesOn(ended);
  const words = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  lines.push(`run ${runId}: ${counts}${words}.${whereOf(trace, ended)}`);
  return lines;
}

/** What somebody who reads only the counts would take wrong. */
function notesOn({ account, shims, hasPolicy }: EndedRun): readonly string[] {
  const notes: string[] = [];
  if (account.kind === 'counted') notes.push(`as the hub counted: ${account.reason}`);
  if (account.kind === 'at_least') notes.push(`at least: ${account.reason}`);
  if (shims === 0) notes.push(NO_SERVER);
  else if (!hasPolicy) notes.push('no policy: calls were only recorded');
  return notes;
}

function whereOf(trace: TracePlace, { runId, account }: EndedRun): string {
  switch (trace.kind) {
    case 'file':
    case 'bundle':
      return ` Trace: ${trace.path}`;
    case 'ledger':
      // What has not reached the ledger cannot be found there.
      return account.kind === 'events' ? ` Trace: sub query --run ${runId}` : '';
    case 'none':
      return '';
  }
}

/** Why --strict fails the run; empty when it does not. */
function strictLines(ended: EndedRun, wish: StrictFlags): readonly string[] {
  const kinds = new Set(ended.policyHarms.map(({ kind }) => kind));
  const harms = [...kinds].map((kind) => `strict: a policy was ${kind}.`);
  return [...harms, ...violationLines(ended, wish)];
}

function violationLines({ account, shims }: EndedRun, wish: StrictFlags): readonly string[] {
  if (account.kind !== 'events') {
    return [`strict: whether there were violations is not known: ${account.reason}.`];
  }
  // Its calls may have gone around every shim: nobody can tell.
  if (shims === 0 && !wish['allow-no-server']) {
    return [`strict: ${NO_SERVER}. If it needs none, add --allow-no-server.`];
  }
  const { violations, violations_total, spared, spared_total } = account.summary;
  const count = violations_total + spared_total;
  const heldBack = heldBackLines(account.summary.answers_held_back);
  if (count === 0) return heldBack;
  const tallies = new Map<string, number>();
  for (const { rule_id, reason_code, server_name, tool_name, action } of [
    ...violations,
    ...spared,
  ]) {
    const what = `${rule_id ?? reason_code} (${action}) on ${server_name}/${tool_name}`;
    tallies.set(what, (tallies.get(what) ?? 0) + 1);
  }
  const shown = [...tallies].slice(0, SHOWN_MAX).map(([what, times]) => `${what} ×${times}`);
  const more = tallies.size > SHOWN_MAX ? `, and ${tallies.size - SHOWN_MAX} more` : '';
  return [`strict: ${plural(count, 'violation')}: ${shown.join(', ')}${more}.`, ...heldBack];
}

/** What a server has answered and the agent did not get was refused as well. */
function heldBackLines(count: number): readonly string[] {
  return count === 0 ? [] : [`strict: ${plural(count, 'answer')} held back.`];
}
