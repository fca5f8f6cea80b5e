// What `sub run` says at the end, and the exit code it ends with.
import { constants } from 'node:os';
import type { Account, AgentEnd, Ended, TracePlace } from '@subluminal/plane/main/run';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../text.ts';

/** As a shim ends whose policy has ended the run. */
const EXIT_STOPPED = 3;
const SHOWN_MAX = 3;

/** The policy weighs most, then what --strict found, then what the agent said itself. */
function exitCodeOf({ status, account, agent }: Ended, isStrict: boolean): number {
  if (status === 'TERMINATED') return EXIT_STOPPED;
  if (isStrict && violationsOf(account) !== 0) return EXIT_STOPPED;
  return agentCode(agent);
}

function agentCode({ code, signal }: AgentEnd): number {
  return signal === null ? (code ?? EXIT.findings) : 128 + constants.signals[signal];
}

/** Undefined when nobody knows. */
function violationsOf(account: Account): number | undefined {
  if (account.kind === 'counted') return undefined;
  const { violations_total, spared_total } = account.summary;
  return violations_total + spared_total;
}

function closingLines(
  ended: Ended,
  { strict, quiet }: { readonly strict: boolean; readonly quiet: boolean },
): readonly string[] {
  const { runId, account, trace } = ended;
  const lines: string[] = [];
  if (strict) lines.push(...strictLines(account));
  if (quiet) return lines;
  const totals = account.kind === 'events' ? account.summary.totals : account.totals;
  const refused = totals.calls_blocked + totals.calls_throttled;
  const counts = `${plural(totals.calls_total, 'call')}, ${refused} refused`;
  const doubt = account.kind === 'counted' ? ` (as the hub counted: ${account.reason})` : '';
  lines.push(`run ${runId}: ${counts}${doubt}.${whereOf(trace, ended)}`);
  return lines;
}

function whereOf(trace: TracePlace, { runId, account }: Ended): string {
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

function strictLines(account: Account): readonly string[] {
  const count = violationsOf(account);
  if (count === 0) return [];
  if (account.kind === 'counted') {
    return [`strict: whether there were violations is not known: ${account.reason}.`];
  }
  const { violations, spared } = account.summary;
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
  return [`strict: ${plural(count ?? 0, 'violation')}: ${shown.join(', ')}${more}.`];
}

export { closingLines, exitCodeOf };
