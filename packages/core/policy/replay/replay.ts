// What a policy would have decided over recorded calls: "would this have been blocked?"
import {
  type Action,
  definedFields,
  type Event,
  type EventOf,
  isObject,
  type JsonObject,
} from '@subluminal/contracts';
import { argsHash } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import type { Snapshot } from '../compile/snapshot.ts';
import { decide, recordResult } from '../decide/decide.ts';
import { sectionsOf } from '../explain/explain.ts';
import type { Call, Outcome, TraceStep } from '../model/call.ts';
import { identityOf } from '../model/identity.ts';
import { awaitsResult } from '../rules/index.ts';
import { type OpenCall, ReplayMemory, type RunMemory } from './replay-memory.ts';
import type {
  ArgsKnowledge,
  ReplayedCall,
  ReplayOptions,
  ReplayResult,
  ReplayVerdict,
} from './types.ts';

interface Replay {
  readonly snapshot: Snapshot;
  readonly options: ReplayOptions;
  /** The rules that look at arguments. */
  readonly needsArgs: ReadonlySet<string>;
  readonly memory: ReplayMemory;
}

/** A replay that takes one event after the other, so that its caller may pause in between. */
export interface StartedReplay {
  take(event: Event): void;
  result(): ReplayResult;
}

/**
 * Decides recorded calls again, each run with its own counters and at its recorded times. Events
 * come in recorded order, runs may be interleaved, and the notes count missing events.
 */
export function startReplay(snapshot: Snapshot, options: ReplayOptions): StartedReplay {
  const memory = new ReplayMemory(snapshot, options.limits);
  const running: Replay = { snapshot, options, needsArgs: rulesWithArgs(snapshot), memory };
  return {
    take: (event) => {
      if (event.type === 'tool_call_start') onStart(event, running);
      else if (event.type === 'tool_call_decision') onDecision(event, running);
      else if (event.type === 'tool_call_end') onEnd(event, running);
      // What a turn cost is known only after it was decided, and its text is not on record.
      else if (event.type === 'turn_start') memory.notes.turns_left_out += 1;
    },
    result: () => ({
      policy: snapshot.ref,
      ...memory.result(),
      not_evaluated: sectionsOf(snapshot),
    }),
  };
}

export function replay(
  snapshot: Snapshot,
  events: Iterable<Event>,
  options: ReplayOptions,
): ReplayResult {
  const started = startReplay(snapshot, options);
  for (const event of events) started.take(event);
  return started.result();
}

function rulesWithArgs({ rules, engines }: Snapshot): ReadonlySet<string> {
  const reading = rules.filter(({ rule: { match, when } }) => {
    const { args, any_arg, command } = match;
    if ([args, any_arg, command].some((part) => part !== undefined)) return true;
    const compiled = when === undefined ? undefined : engines.when(when);
    return compiled?.ok === true && compiled.needsArgs;
  });
  return new Set(reading.map(({ rule }) => rule.rule_id));
}

function onStart(event: EventOf<'tool_call_start'>, running: Replay): void {
  const { memory, options } = running;
  const { call_id, seq } = event.call;
  const known = memory.openCall(event.run_id, call_id);
  if (known?.started === true) {
    memory.notes.repeated_starts += 1;
    return;
  }
  const run = memory.run(event.run_id);
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
  const { memory, options } = running;
  let open = memory.openCall(event.run_id, event.call.call_id);
  if (open === undefined) {
    memory.notes.decisions_without_start += 1;
    const run = memory.run(event.run_id);
    open = again(running, { event, seq: null, run, ...callOfDecision(event) });
  }
  if (open.decided) {
    // What follows an approval is a person's word, not the policy's.
    memory.notes.repeated_decisions += 1;
    return;
  }
  open.decided = true;
  const { draft } = open;
  const { action, rule_id } = compared(event.decision, options);
  memory.verdicts[draft.verdict] -= 1;
  draft.recorded = { action, rule_id };
  draft.verdict = verdictOf(draft);
  memory.verdicts[draft.verdict] += 1;
  if (isBeside(rule_id)) memory.notes.beside_rules += 1;
  memory.countRule(rule_id, 'recorded');
}

/** Errors open breakers, but only those of calls that this policy would have let pass too. */
function onEnd(event: EventOf<'tool_call_end'>, { memory, snapshot }: Replay): void {
  const open = memory.openCall(event.run_id, event.call.call_id);
  if (open === undefined) {
    memory.notes.ends_without_start += 1;
    return;
  }
  if (open.ended) return;
  open.ended = true;
  const failed = event.status === 'ERROR' || event.status === 'TIMEOUT';
  const forwarded = event.error?.class !== 'policy_block';
  if (!failed || !forwarded || !open.passes) return;
  const run = memory.run(event.run_id);
  const nowMs = memory.timeOf(event.ts, run);
  const ended = { call: open.call, result: 'error', trace: open.trace, nowMs } as const;
  run.state = recordResult(snapshot, ended, run.state);
}

/** Decides one recorded call again. */
function again(
  { snapshot, memory, options, needsArgs }: Replay,
  recorded: RecordedCall & {
    readonly event: EventOf<'tool_call_start'> | EventOf<'tool_call_decision'>;
    readonly seq: number | null;
    readonly run: RunMemory;
  },
): OpenCall {
  const { event, seq, run, call, args } = recorded;
  const { call_id, server_name, tool_name } = event.call;
  const nowMs = memory.timeOf(event.ts, run);
  options.onCall?.({
    runId: event.run_id,
    callId: call_id,
    call,
    args,
    state: run.state,
    nowMs,
  });
  const outcome = decide(snapshot, call, run.state, nowMs);
  run.state = outcome.state;
  const hangs = isUndetermined(outcome, args, needsArgs);
  const { action, rule_id, reason_code } = compared(outcome.decision, options);
  const replayed = hangs ? null : { action, rule_id, reason_code };
  const parts = { run_id: event.run_id, call_id, seq, server_name, tool_name, args, replayed };
  const verdict = verdictOf({ recorded: null, replayed });
  // Kept small: of an open call, only breakers will ask again, and not for its arguments.
  const { args: _large, ...small } = call;
  const open: OpenCall = {
    draft: { ...parts, recorded: null, verdict },
    call: small,
    trace: outcome.trace.filter(awaitsResult),
    passes: hangs || outcome.decision.action === 'ALLOW',
    started: false,
    decided: false,
    ended: false,
  };
  memory.addCall(open);
  return open;
}

// How a replayed decision compares with the recorded one.

/** From the mildest to the strictest. */
const ACTIONS: readonly Action[] = [
  'ALLOW',
  'THROTTLE',
  'REJECT_WITH_HINT',
  'BLOCK',
  'TERMINATE_RUN',
];

/** What happened, or what an enforcing policy would have done. */
function compared<D extends { readonly would?: object }>(
  decision: D,
  options: ReplayOptions,
): D | NonNullable<D['would']> {
  return options.compare === 'would' ? (decision.would ?? decision) : decision;
}

/**
 * Whether the outcome depends on arguments that the recording does not hold: some rule needed them
 * before any rule had decided.
 */
function isUndetermined(
  outcome: Outcome<unknown>,
  args: ArgsKnowledge,
  needsArgs: ReadonlySet<string>,
): boolean {
  if (args !== 'unknown') return false;
  const missed = (step: TraceStep) => step.outcome === 'failed' && needsArgs.has(step.rule_id);
  const settled = (step: TraceStep) =>
    step.outcome === 'decided' || step.outcome === 'would_decide';
  const first = outcome.trace.find((step) => settled(step) || missed(step));
  return first !== undefined && missed(first);
}

/** Gates and Cedar decide beside the rules, by what a recording does not hold. */
function isBeside(ruleId: string | null): boolean {
  return ruleId !== null && /^(?:gate|cedar):/.test(ruleId);
}

export function verdictOf({
  recorded,
  replayed,
}: Pick<ReplayedCall, 'recorded' | 'replayed'>): ReplayVerdict {
  if (replayed === null) return 'undetermined';
  if (recorded === null) return 'unrecorded';
  const [was, is] = [ACTIONS.indexOf(recorded.action), ACTIONS.indexOf(replayed.action)];
  if (is < was) return isBeside(recorded.rule_id) ? 'undetermined' : 'looser';
  if (is > was) return 'stricter';
  return recorded.rule_id === replayed.rule_id ? 'same' : 'different_rule';
}

// From a recorded event to a call that can be decided again.

interface RecordedCall {
  readonly call: Call;
  readonly args: ArgsKnowledge;
}

function callOfStart(event: EventOf<'tool_call_start'>, sha256: Sha256): RecordedCall {
  const { server_name, tool_name, subject, args_hash, bytes_in, risk_class, tags } = event.call;
  const { args, value } = argsOf(event.call, sha256);
  return {
    args,
    call: {
      identity: identityOf(event),
      server_name,
      tool_name,
      subject,
      args_hash,
      bytes_in,
      risk_class: risk_class ?? tags ?? [],
      ...definedFields({ args: value }),
    },
  };
}

/** The call of a decision whose start is missing: the event of a decision knows less of it. */
function callOfDecision(event: EventOf<'tool_call_decision'>): RecordedCall {
  const { server_name, tool_name, args_hash, risk_class = [] } = event.call;
  const identity = identityOf(event);
  const call = { identity, server_name, tool_name, args_hash, bytes_in: 0, risk_class };
  return { args: 'unknown', call };
}

/** A preview is made for eyes: redacted or cut, it must not pass for the arguments. */
function argsOf(
  call: EventOf<'tool_call_start'>['call'],
  sha256: Sha256,
): { readonly args: ArgsKnowledge; readonly value?: JsonObject } {
  if (call.args_stream_hash !== undefined) return { args: 'uninspected' };
  const { truncated, args_preview: text } = call.preview;
  if (truncated || text === undefined) return { args: 'unknown' };
  const hashed = argsHash(text, sha256);
  if (!hashed.ok || hashed.hash !== call.args_hash) return { args: 'unknown' };
  const value: unknown = JSON.parse(text);
  return isArgs(value) ? { args: 'known', value } : { args: 'unknown' };
}

/** What comes out of JSON holds nothing but JSON. */
function isArgs(value: unknown): value is JsonObject {
  return isObject(value);
}
