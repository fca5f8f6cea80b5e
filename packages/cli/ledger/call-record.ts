// One call with all that the ledger has about it.
import {
  API_RECORD_EVENTS_MAX,
  type ApiCallRecord,
  type CallJudgement,
  type EventOf,
  type Failure,
  failure,
  type JsonObject,
  parseEventLine,
} from '@subluminal/contracts';
import {
  type CallDetail,
  eventAbout,
  FLAGS,
  type RunRow,
  readArgs,
  type StoreReader,
} from '@subluminal/plane/ledger';
import { orThrow } from '../input/command.ts';
import { AskedCalls, type AskedToolUse } from './asked-calls.ts';
import { eventRows, findRun, LAST } from './user-ledger.ts';
import { gateRecords, whySentence } from './why.ts';

type DecisionEvent = EventOf<'tool_call_decision' | 'turn_decision'>;

export interface CallRecord {
  readonly call: CallDetail;
  readonly run: RunRow | undefined;
  /** Undefined when it was pruned, or never recorded. */
  readonly decision: DecisionEvent | undefined;
  readonly approvals: readonly EventOf<'approval'>[];
  /** The end of a turn: what it used, and which tool calls it asked for. */
  readonly turnEnd: EventOf<'turn_end'> | undefined;
  /** What a turn asked for, with the calls that followed. */
  readonly askedCalls: readonly AskedToolUse[];
  /** The turn that asked for a tool call, if it is known. */
  readonly askedBy: AskedToolUse | undefined;
  readonly events: readonly RecordedEvent[];
  /** There are more events in the run than are looked through. */
  readonly hasMore: boolean;
}

interface RecordedEvent {
  readonly seq: number;
  readonly event: JsonObject;
}

const SHOWN_MAX = 20;
/** Events of the run, from the first of the call on. */
const EVENTS_MAX = 200_000;

/** The one call that an id, a part of it or `last` means; undefined where there is none. */
export async function findCall(
  reader: StoreReader,
  name: string,
  run: string | undefined,
): Promise<CallDetail | Failure | undefined> {
  const runId = run === undefined ? undefined : orThrow(await findRun(reader, run));
  const calls =
    name === LAST
      ? (await reader.calls(runId === undefined ? {} : { runId }, { limit: 1 })).rows
      : await reader.callsNamed(name, { limit: SHOWN_MAX, runId });
  const [first, second] = calls;
  if (first === undefined) return undefined;
  if (second !== undefined) {
    const isSameId = first.call_id === second.call_id;
    const like = isSameId ? `Add --run ${first.run_id}.` : `Give more of it: ${first.call_id}`;
    const count =
      calls.length === SHOWN_MAX ? `${SHOWN_MAX} calls or more` : `${calls.length} calls`;
    return failure('SUB_LEDGER_QUERY', `\`${name}\` fits ${count}.`, like);
  }
  return reader.call(first.run_id, first.call_id);
}

export async function callRecord(reader: StoreReader, call: CallDetail): Promise<CallRecord> {
  const events: RecordedEvent[] = [];
  const approvals: EventOf<'approval'>[] = [];
  let decision: DecisionEvent | undefined;
  let turnEnd: EventOf<'turn_end'> | undefined;
  const asked = new AskedCalls();
  let seen = 0;
  for await (const { seq, line } of eventRows(reader, {
    runId: call.run_id,
    afterSeq: call.id - 1,
  })) {
    if (++seen > EVENTS_MAX) break;
    if (line === null) continue;
    if (call.kind === 'turn') seeAsked(asked, line);
    const event = eventAbout(line, call.call_id);
    if (event === undefined) continue;
    events.push({ seq, event });
    const parsed = parseEventLine(line);
    if (!parsed.ok) continue;
    if (parsed.event.type === 'approval') approvals.push(parsed.event);
    if (parsed.event.type === 'turn_end') turnEnd = parsed.event;
    if (parsed.event.type === 'tool_call_decision' || parsed.event.type === 'turn_decision') {
      decision = parsed.event;
    }
  }
  const run = await reader.run(call.run_id);
  const askedCalls = asked.ofTurn(call.call_id);
  const hasAsker = call.kind !== 'turn' && run !== undefined && run.turns > 0;
  const askedBy = hasAsker ? await askingTurn(reader, call) : undefined;
  const hasMore = seen > EVENTS_MAX;
  return { call, run, decision, approvals, turnEnd, askedCalls, askedBy, events, hasMore };
}

/** Only the whole run tells: the end of the turn may come after the start of the call. */
async function askingTurn(
  reader: StoreReader,
  call: CallDetail,
): Promise<AskedToolUse | undefined> {
  const asked = new AskedCalls();
  let seen = 0;
  for await (const { line } of eventRows(reader, { runId: call.run_id })) {
    if (++seen > EVENTS_MAX) break;
    if (line !== null) seeAsked(asked, line);
  }
  return asked.forCall(call.call_id);
}

/** Most lines need not be parsed. */
function seeAsked(asked: AskedCalls, line: string): void {
  if (!line.includes('"tool_call_start"') && !line.includes('"turn_end"')) return;
  const parsed = parseEventLine(line);
  if (parsed.ok) asked.see(parsed.event);
}

/** Why arguments or a result are not there as a whole; undefined when they are. */
export function whyNotWhole({ call }: CallRecord, what: 'args' | 'result'): string | undefined {
  const isArgs = what === 'args';
  const has = (flag: number) => (call.redaction_flags & flag) !== 0;
  const isTruncated = has(isArgs ? FLAGS.argsTruncated : FLAGS.resultTruncated);
  if ((isArgs ? call.args_preview : call.result_preview) !== null) {
    return isTruncated ? 'cut: the rest was not kept' : undefined;
  }
  if (has(isArgs ? FLAGS.argsPruned : FLAGS.resultPruned)) return 'not kept: pruned';
  if (has(isArgs ? FLAGS.argsDropped : FLAGS.resultDropped)) {
    return 'not kept: left out because too many events were waiting';
  }
  if (!isArgs && call.decision !== null && call.decision !== 'ALLOW') {
    return 'none: the call was refused';
  }
  if (!isArgs && call.status === null) return 'none: the call has no end on record';
  const content = isArgs ? call.args_content : call.result_content;
  if (content !== undefined && content.action !== 'tag')
    return 'not kept because of what was found in it';
  return isTruncated
    ? 'not kept: previews are off, or it is larger than limits.max_inspect_bytes'
    : 'none';
}

/** Only a call of a tool has any. */
export function judgementsIn(decision: DecisionEvent | undefined): readonly CallJudgement[] {
  return decision?.type === 'tool_call_decision' ? (decision.judgements ?? []) : [];
}

export function recordDocument(record: CallRecord): ApiCallRecord {
  const { call, run, decision, approvals, turnEnd, askedCalls, askedBy, events, hasMore } = record;
  return {
    call,
    run: run ?? null,
    why: whySentence(record),
    arguments: call.args_preview === null ? null : (readArgs(call.args_preview) ?? null),
    not_whole: {
      arguments: whyNotWhole(record, 'args') ?? null,
      result: whyNotWhole(record, 'result') ?? null,
    },
    decision: decision?.decision ?? null,
    trace: decision?.trace ?? null,
    ...(judgementsIn(decision).length > 0 && { judgements: judgementsIn(decision) }),
    gates: gateRecords(record),
    approvals: approvals.map(({ ts, approval }) => ({ ts, ...approval })),
    ...(call.kind === 'turn'
      ? {
          usage: turnEnd?.usage ?? null,
          tool_calls: askedCalls.map(({ id, name, callId }) => ({ id, name, call_id: callId })),
        }
      : { asked_by: askedBy === undefined ? null : { turn: askedBy.turnId, id: askedBy.id } }),
    events: events.slice(0, API_RECORD_EVENTS_MAX),
    has_more_events: hasMore || events.length > API_RECORD_EVENTS_MAX,
  };
}
