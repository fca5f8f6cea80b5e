// One tool call: read, decided, and handed on to what carries the decision out.
import type { CallRef, Decision, JsonObject } from '@subluminal/contracts';
import { argsHash } from '../canon/index.ts';
import { decide } from '../policy/decide/decide.ts';
import type { Call, Identity, Outcome, PolicyState } from '../policy/index.ts';
import { holdCall } from './approvals.ts';
import { carryOut, type ReadCall, recordDecision, recordStart } from './carry-out.ts';
import { type Context, type Step, sizeOf } from './context.ts';
import type { SeenNotification, SeenParams, SeenRequest } from './peek/types.ts';
import { previewOf } from './preview.ts';
import { answerFor, asksHub, sharedOutcome } from './shared.ts';

interface ReadArgs {
  readonly hash: string;
  readonly text: string;
  readonly fault: string | undefined;
}

const NAME_LENGTH_MAX = 1_024;
const NAMES_MAX = 256;
const NO_ARGS = '{}';
const NONE: readonly string[] = [];
const FAULT_LENGTH_MAX = 200;

/** A call whose arguments are parsed on first use: most policies never look. */
class LazyCall implements Call {
  readonly identity: Identity;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
  readonly bytes_in: number;
  readonly approved: readonly string[];
  private readonly text: string;
  private parsed: JsonObject | undefined;

  constructor(given: {
    context: Context;
    ref: CallRef;
    tool: string;
    text: string;
    bytesIn: number;
  }) {
    const { context, ref, tool, text, bytesIn } = given;
    this.identity = context.config.identity;
    this.server_name = ref.server_name;
    this.tool_name = tool;
    this.args_hash = ref.args_hash;
    this.bytes_in = bytesIn;
    this.approved = approvedFor(context, ref);
    this.text = text;
    this.parsed = undefined;
  }

  get args(): JsonObject {
    this.parsed ??= objectOf(this.text);
    return this.parsed;
  }
}

/** Decides a call and carries the decision out. */
function governCall(context: Context, step: Step, seen: SeenRequest | SeenNotification): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  const read = readCall(context, step, seen.params);
  const outcome = outcomeOf(context, step, read);
  const decided = { read, outcome, id };
  const { approval } = outcome.decision;
  recordStart(context, step, decided);
  if (approval?.wait === 'hold' && id !== undefined) return holdCall(context, step, decided);
  recordDecision(context, step, decided);
  carryOut(context, step, decided);
}

function readCall(context: Context, step: Step, params: SeenParams): ReadCall {
  const { bytes } = step;
  const { call, ref, text, fault } = lookAt(context, step, params);
  const token = params.progressToken;
  return {
    call,
    ref,
    seq: nextSeq(context),
    preview: previewOf(context, text),
    fault,
    shared: fault === undefined && asksHub(context, call),
    progressToken: token && context.decode(bytes, token.start, token.end),
    version: params.metaVersion ?? context.version,
  };
}

/** What a call asks for. Nothing is counted by looking. */
function lookAt(
  context: Context,
  step: Step,
  params: SeenParams,
): { call: Call; ref: CallRef; text: string; fault: string | undefined } {
  const { config } = context;
  const { bytes } = step;
  const args = readArgs(context, bytes, params);
  const { tool_name: tool, fault } = nameOf(params.name);
  const { hash: args_hash, text } = args;
  const call_id = answerFor(step)?.callId ?? config.callId();
  const tool_name = shownName(context, tool);
  const ref = { call_id, server_name: config.serverName, tool_name, args_hash };
  const call = new LazyCall({ context, ref, tool, text, bytesIn: sizeOf(bytes) });
  return { call, ref, text, fault: fault ?? args.fault };
}

/** The arguments as they were written. Without any, or with null, a call has no arguments. */
function readArgs(context: Context, bytes: Uint8Array, { args }: SeenParams): ReadArgs {
  const written = args && context.decode(bytes, args.start, args.end);
  const text = written === undefined || written === 'null' ? NO_ARGS : written;
  const hashed = argsHash(text, context.config.sha256);
  if (hashed.ok) return { hash: hashed.hash, text, fault: undefined };
  // It has no canonical form, so what was sent is hashed as it is.
  const fault = context.redact(`Invalid arguments: ${hashed.message}.`);
  return { hash: context.config.sha256(text), text, fault: fault.slice(0, FAULT_LENGTH_MAX) };
}

function nameOf(name: string | undefined): { tool_name: string; fault: string | undefined } {
  if (name === undefined || name === '') {
    return { tool_name: '(none)', fault: 'Invalid call: it does not name a tool.' };
  }
  if (name.length <= NAME_LENGTH_MAX) return { tool_name: name, fault: undefined };
  const fault = `Invalid call: the tool's name is longer than ${NAME_LENGTH_MAX} characters.`;
  return { tool_name: name.slice(0, NAME_LENGTH_MAX), fault };
}

/** A name is decided on as it is, and shown without the secrets that an agent may put there. */
function shownName({ names, redact }: Context, name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const shown = redact(name) || '(none)';
  if (names.size >= NAMES_MAX) names.clear();
  names.set(name, shown);
  return shown;
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isArgs(value)) return value;
  throw new Error('arguments that were hashed as an object are none');
}

function isArgs(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function approvedFor({ config }: Context, ref: CallRef): readonly string[] {
  return config.approvedFor?.(ref) ?? NONE;
}

function nextSeq(context: Context): number {
  return context.config.seq?.() ?? ++context.seq;
}

function outcomeOf(context: Context, step: Step, read: ReadCall): Outcome<PolicyState> {
  const { snapshot, state } = context;
  if (read.shared) return sharedOutcome(context, step);
  if (read.fault === undefined) return decide(snapshot, read.call, state, step.nowMs);
  const refused = { rule_id: null, reason_code: 'INVALID_CALL', summary: read.fault } as const;
  const base = { rule_id: null, severity: 'warn' } as const;
  const decision: Decision = context.enforcing
    ? { ...base, ...refused, action: 'BLOCK' }
    : {
        ...base,
        action: 'ALLOW',
        reason_code: 'WOULD_BLOCK',
        summary: `Would be refused: ${read.fault}`,
        would: { action: 'BLOCK', ...refused },
      };
  return { decision, state: context.state, trace: [], risk_class: [] };
}

export { approvedFor, governCall, lookAt, nameOf, nextSeq, outcomeOf, shownName };
