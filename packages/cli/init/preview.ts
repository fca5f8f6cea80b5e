// What a policy would do to the calls of the ledger, as a short table.
import { type Failure, isFailure } from '@subluminal/contracts';
import { type ReplayResult, replay, ruleRole } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { orThrow } from '../input/command.ts';
import { recentEvents } from '../ledger/recorded-events.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { plural } from '../terminal/text.ts';

export interface Preview {
  readonly calls: number;
  readonly runs: number;
  /** Calls that would pass, and those that depend on arguments that are not on record. */
  readonly allowed: number;
  readonly undetermined: number;
  /** The others, by what would become of them. */
  readonly stopped: readonly Stopped[];
}

interface Stopped {
  readonly outcome: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly rule_id: string | null;
  count: number;
}

const ROWS_MAX = 10;

/** Undefined without a ledger, or with one that has no calls; a failure where it cannot be read. */
export async function previewPolicy(
  { path, text }: { readonly path: string; readonly text: string },
  io: Io,
): Promise<Preview | Failure | undefined> {
  const bytes = new TextEncoder().encode(text);
  const { snapshot } = orThrow(await loadPolicy({ path, bytes }, { io }));
  const recorded = await readFreshLedger(io, (reader) => recentEvents(reader, undefined));
  if (isFailure(recorded)) return recorded.code === 'SUB_LEDGER_MISSING' ? undefined : recorded;
  const result = replay(snapshot, recorded.events, { sha256 });
  const asking = snapshot.written.filter((rule) => ruleRole(rule) === 'asks');
  const asks = new Set(asking.map(({ rule_id }) => rule_id));
  return result.calls.length === 0 ? undefined : previewOf(result, asks);
}

function previewOf({ calls, summary }: ReplayResult, asks: ReadonlySet<string>): Preview {
  const stopped = new Map<string, Stopped>();
  let allowed = 0;
  for (const { replayed, server_name, tool_name } of calls) {
    if (replayed?.action === 'ALLOW') allowed++;
    if (replayed === null || replayed.action === 'ALLOW') continue;
    const { action, rule_id } = replayed;
    const isAsked = action === 'REJECT_WITH_HINT' && rule_id !== null && asks.has(rule_id);
    const outcome = isAsked ? 'ASK' : action;
    const key = JSON.stringify([outcome, server_name, tool_name, rule_id]);
    const known = stopped.get(key) ?? { outcome, server_name, tool_name, rule_id, count: 0 };
    known.count++;
    stopped.set(key, known);
  }
  return {
    calls: calls.length,
    runs: summary.runs,
    allowed,
    undetermined: summary.verdicts.undetermined,
    stopped: [...stopped.values()].toSorted((one, other) => other.count - one.count),
  };
}

export function previewText(preview: Preview | undefined, io: Io): string {
  if (preview === undefined) {
    return 'No calls are on record yet, so there is nothing to try it on.\n';
  }
  const { calls, runs, allowed, undetermined, stopped } = preview;
  const unknown = undetermined === 0 ? '' : `, ${undetermined} cannot be told`;
  const head = `Of the last ${plural(calls, 'call')} in ${plural(runs, 'run')}, it would let ${allowed} pass${unknown}${stopped.length === 0 ? '' : ', and stop'}`;
  if (stopped.length === 0) return `${head}.\n`;
  const rows = stopped.slice(0, ROWS_MAX).map((one) => {
    return [one.count, one.outcome, `${one.server_name}/${one.tool_name}`, one.rule_id];
  });
  const columns = [
    { title: 'CALLS', right: true },
    'DECISION',
    { title: 'TOOL', widthMin: 12 },
    { title: 'RULE', widthMin: 12 },
  ];
  const more = stopped.length > ROWS_MAX ? `… and ${stopped.length - ROWS_MAX} more\n` : '';
  return `${head}:\n${tableText(columns, rows, { width: io.out.columns })}${more}`;
}
