// Requests for resources and prompts that rules of the policy see, as they see the calls of tools.
import type { JsonObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { memberTexts } from '../json/text-parts.ts';
import { LOWER_N } from '../json/units.ts';
import { policiesIn } from '../policy/compile/snapshot.ts';
import type { Call } from '../policy/index.ts';
import { type OtherSubject, subjectOf } from '../policy/model/subjects.ts';
import { asksHub } from './ask-hub.ts';
import { grantedRules } from './ask-people.ts';
import { type Context, type MessageStep, nextSeq, parseObject, sizeOf } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import { STATE } from './input-rounds.ts';
import { handOn } from './pass-message.ts';
import { hashArgs, type ReadCall, type SeenCall } from './read-call.ts';
import { emitEnd, previewText } from './record-call.ts';
import type { HubQuestion } from './types.ts';

/** The subject of a request, if a rule of the policy sees such requests. */
export function governedSubject(
  { snapshot }: Pick<Context, 'snapshot'>,
  method: string,
): OtherSubject | undefined {
  const subject = subjectOf(method);
  if (subject === undefined) return undefined;
  return policiesIn(snapshot).some(({ subjects }) => subjects.has(subject)) ? subject : undefined;
}

/** A request as its message shows it. */
export interface ViewedSubject extends Pick<ReadCall, 'call' | 'ref' | 'fault'> {
  /** Its arguments as they were written. */
  readonly argsText: string;
}

/** A request as rules see it. Nothing is counted. */
function viewSubject({ context, bytes, message }: MessageStep, seen: SeenCall): ViewedSubject {
  if (message?.subject !== undefined) return message.subject;
  const { serverName: server_name, identity, callId } = context.config;
  const { method: tool_name } = seen;
  const { args, argsText, args_hash, asked_hash, fault } = readParams(context, bytes);
  const ref = { call_id: callId(), server_name, tool_name, args_hash };
  const subject = subjectOf(tool_name);
  const query = { ref, envelope: undefined, tool: tool_name, subject, args: () => args };
  const call: Call = {
    identity,
    server_name,
    tool_name,
    subject,
    args,
    // Answers that the agent makes up must not make another request of it.
    args_hash: asked_hash,
    bytes_in: sizeOf(bytes),
    approved: grantedRules(context, query),
    round:
      asked_hash === args_hash
        ? undefined
        : context.inputRounds.roundOf({ tool_name, args_hash: asked_hash }, () => ({
            params: args,
          })),
  };
  const viewed = { ref, call, argsText, fault };
  if (message !== undefined) message.subject = viewed;
  return viewed;
}

interface ReadParams extends Pick<ViewedSubject, 'argsText' | 'fault'> {
  readonly args: JsonObject;
  readonly args_hash: string;
  /** Without what a further round adds. */
  readonly asked_hash: string;
}

const NO_PARAMS = '{}';
const META = '_meta';
const INPUT: ReadonlySet<string> = new Set(['inputResponses', STATE]);

/** The params as arguments, without `_meta`, which describes the client; all of them must be unambiguous. */
function readParams(context: Context, bytes: Uint8Array): ReadParams {
  const range = memberRange(bytes, 'params');
  // Params that are missing or null are no params.
  const isNone = range === undefined || bytes[range.start] === LOWER_N;
  const whole = isNone ? NO_PARAMS : context.decode(bytes, range.start, range.end);
  const read = hashArgs(context, whole);
  if (read.fault !== undefined) {
    const { hash: args_hash, fault } = read;
    return { args: {}, argsText: whole, args_hash, asked_hash: args_hash, fault };
  }
  const members = (memberTexts(whole) ?? []).filter(({ key }) => key !== META);
  const argsText = objectText(members);
  const { hash: args_hash, fault } = hashArgs(context, argsText);
  const asked = members.filter(({ key }) => !INPUT.has(key));
  const isFirst = asked.length === members.length;
  const asked_hash = isFirst ? args_hash : hashArgs(context, objectText(asked)).hash;
  return { args: parseObject(argsText), argsText, args_hash, asked_hash, fault };
}

function objectText(members: NonNullable<ReturnType<typeof memberTexts>>): string {
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

export function readSubject(step: MessageStep, seen: SeenCall): ReadCall {
  const { context, bytes } = step;
  const { call, ref, argsText, fault } = viewSubject(step, seen);
  const { params } = seen;
  const token = params.progressToken;
  return {
    call,
    ref,
    seq: nextSeq(context),
    preview: previewText(context, argsText),
    fault,
    progressToken: token && context.decode(bytes, token.start, token.end),
    version: params.metaVersion ?? context.version,
    shared: fault === undefined && asksHub(context, call),
  };
}

/** A request that rules count, as the hub would be asked about it. */
export function subjectQuestion(step: MessageStep, seen: SeenCall): HubQuestion | undefined {
  const { context } = step;
  if (governedSubject(context, seen.method) === undefined) return undefined;
  const { call, ref, fault } = viewSubject(step, seen);
  return fault === undefined ? { ref, call } : undefined;
}

/** Passes a request on that the rules and the gates allow. */
export function passSubject(step: MessageStep, { read, id, outcome }: DecidedCall): void {
  const { context, nowMs } = step;
  const { ref, call } = read;
  const { onward } = outcome;
  if (onward === undefined) throw new Error('a request passes that no gate was asked about');
  if (id === undefined) {
    emitEnd(step, ref, { status: 'OK', sinceMs: nowMs, bytesOut: 0 });
  } else {
    const { args: _large, approved: _used, ...small } = call;
    const open = { ref, call: small, trace: outcome.trace, shared: read.shared };
    const method = call.tool_name;
    context.requests.agent.add(id.json, { method, sinceMs: nowMs, call: open, heldAs: undefined });
  }
  handOn(step, onward);
}
