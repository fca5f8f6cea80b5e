// What a policy would have decided over recorded calls: "would this have been blocked?"
import type { Event, EventOf } from '@subluminal/contracts';
import type { Snapshot } from '../compile/snapshot.ts';
import { decide, recordResult } from '../decide/decide.ts';
import { sectionsOf } from '../explain/sections.ts';
import { callOfDecision, callOfStart, type RecordedCall } from './call.ts';
import {
  callKey,
  type Draft,
  emptyMemory,
  keepOpen,
  type Memory,
  notesOf,
  type OpenCall,
  type RunMemory,
  runOf,
  timeOf,
} from './memory.ts';
import { countRule, countVerdict, emptyTally, summaryOf, type Tally } from './tally.ts';
import type { ReplayedCall, ReplayOptions, ReplayResult } from './types.ts';
import { isBeside, isUndetermined, recordedOf, replayedOf, verdictOf } from './verdict.ts';

interface Replay {
  readonly snapshot: Snapshot;
  readonly options: ReplayOptions;
  /** The rules that look at arguments. */
  readonly needsArgs: ReadonlySet<string>;
  readonly memory: Memory;
  readonly tally: Tally;
  readonly calls: ReplayedCall[];
}

/**
 * Decides recorded calls again, each run with its own counters and at its recorded times. Events
 * come in recorded order, runs may be interleaved, and what is missing is counted in the notes.
 */
export function replay(
  snapshot: Snapshot,
  events: Iterable<Event>,
  options: ReplayOptions,
): ReplayResult {
  const memory = emptyMemory(options.limits ?? {});
  const tally = emptyTally();
  const needsArgs = rulesWithArgs(snapshot);
  const running: Replay = { snapshot, options, needsArgs, memory, tally, calls: [] };
  for (const event of events) {
    if (event.type === 'tool_call_start') onStart(event, running);
    else if (event.type === 'tool_call_decision') onDecision(event, running);
    else if (event.type === 'tool_call_end') onEnd(event, running);
  }
  return {
    policy: snapshot.ref,
    calls: running.calls,
    summary: summaryOf(tally, memory.runsSeen),
    notes: notesOf(memory),
    not_evaluated: sectionsOf(snapshot),
  };
}

function rulesWithArgs({ rules, engines }: Snapshot): ReadonlySet<string> {
  const reading = rules.filter(({ rule: { match, when } }) => {
    if (match.args !== undefined) return true;
    const compiled = when === undefined ? undefined : engines.when(when);
    return compiled?.ok === true && compiled.needsArgs;
  });
  return new Set(reading.map(({ rule }) => rule.rule_id));
}

function onStart(event: EventOf<'tool_call_start'>, running: Replay): void {
  const { memory, options } = running;
  const { call_id, seq } = event.call;
  const known = memory.open.get(callKey(event.run_id, call_id));
  if (known?.started === true) {
    memory.notes.repeated_starts += 1;
    return;
  }
  const run = runOf(memory, event.run_id, running.snapshot);
  if (seq < run.seqMax) memory.notes.out_of_order += 1;
  run.seqMax = Math.max(run.seqMax, seq);
  run.starts += 1;
  if (known === undefined) {
    const read = callOfStart(event, options.sha256);
    again(running, { event, seq, run, ...read }).started = true;
    return;
  }
  // Its decision came first and has been replayed; the counters can't be turned back.
  memory.notes.late_starts += 1;
  known.started = true;
  known.draft.seq = seq;
}

function onDecision(event: EventOf<'tool_call_decision'>, running: Replay): void {
  const { memory, options, snapshot, tally } = running;
  let open = memory.open.get(callKey(event.run_id, event.call.call_id));
  if (open === undefined) {
    memory.notes.decisions_without_start += 1;
    const run = runOf(memory, event.run_id, snapshot);
    open = again(running, { event, seq: null, run, ...callOfDecision(event) });
  }
  if (open.decided) {
    // What follows an approval is a person's word, not the policy's.
    memory.notes.repeated_decisions += 1;
    return;
  }
  open.decided = true;
  const { draft } = open;
  countVerdict(tally, draft.verdict, -1);
  draft.recorded = recordedOf(event.decision, options.compare ?? 'action');
  draft.verdict = verdictOf(draft);
  countVerdict(tally, draft.verdict, 1);
  if (isBeside(draft.recorded)) memory.notes.beside_rules += 1;
  if (!countRule(tally, draft.recorded.rule_id, 'recorded')) memory.notes.rules_left_out += 1;
}

/** Errors open breakers, but only those of calls that this policy would have let pass too. */
function onEnd(event: EventOf<'tool_call_end'>, running: Replay): void {
  const { memory, snapshot } = running;
  const open = memory.open.get(callKey(event.run_id, event.call.call_id));
  if (open === undefined) {
    memory.notes.ends_without_start += 1;
    return;
  }
  if (open.ended) return;
  open.ended = true;
  const failed = event.status === 'ERROR' || event.status === 'TIMEOUT';
  const forwarded = event.error?.class !== 'policy_block';
  if (!failed || !forwarded || !open.passes) return;
  const run = runOf(memory, event.run_id, snapshot);
  const nowMs = timeOf(memory, event.ts, run);
  const ended = { call: open.call, result: 'error', trace: open.trace, nowMs } as const;
  run.state = recordResult(snapshot, ended, run.state);
}

/** Decides one recorded call again, and keeps it until its decision and its end have come. */
function again(
  running: Replay,
  recorded: RecordedCall & {
    readonly event: EventOf<'tool_call_start'> | EventOf<'tool_call_decision'>;
    readonly seq: number | null;
    readonly run: RunMemory;
  },
): OpenCall {
  const { snapshot, memory, options } = running;
  const { event, seq, run, call, args } = recorded;
  const { call_id, server_name, tool_name } = event.call;
  const outcome = decide(snapshot, call, run.state, timeOf(memory, event.ts, run));
  run.state = outcome.state;
  const hangs = isUndetermined(outcome, args, running.needsArgs);
  const replayed = hangs ? null : replayedOf(outcome.decision, options.compare ?? 'action');
  const parts = { run_id: event.run_id, call_id, seq, server_name, tool_name, args, replayed };
  const verdict = verdictOf({ recorded: null, replayed });
  const draft: Draft = { ...parts, recorded: null, verdict };
  list(draft, running);
  // Kept small: of an open call, only breakers will ask again, and not for its arguments.
  const { args: _large, ...small } = call;
  const open: OpenCall = {
    draft,
    call: small,
    trace: outcome.trace.filter(({ kind }) => kind === 'breaker'),
    passes: hangs || outcome.decision.action === 'ALLOW',
    started: false,
    decided: false,
    ended: false,
  };
  keepOpen(memory, callKey(event.run_id, call_id), open);
  return open;
}

function list(draft: Draft, { memory, tally, calls }: Replay): void {
  countVerdict(tally, draft.verdict, 1);
  const { replayed } = draft;
  const counted = replayed === null || countRule(tally, replayed.rule_id, 'replayed');
  if (!counted) memory.notes.rules_left_out += 1;
  if (calls.length < memory.limits.callsMax) calls.push(draft);
  else memory.notes.calls_left_out += 1;
}
