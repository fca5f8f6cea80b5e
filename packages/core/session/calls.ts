// One tool call: read, decided, and handed on to what carries the decision out.
import type { CallRef, Decision, JsonObject } from '@subluminal/contracts';
import { argsHash } from '../json/index.ts';
import { LOWER_N } from '../json/units.ts';
import { decide } from '../policy/decide/decide.ts';
import type { Call, Identity } from '../policy/index.ts';
import {
  applyDecision,
  type DecidedCall,
  type ReadCall,
  recordDecision,
  recordStart,
} from './apply-decision.ts';
import { holdCall } from './approvals.ts';
import { type Context, type Step, sizeOf } from './context.ts';
import { askForRetry, decideWith, grantsTaken } from './decide-call.ts';
import { LazyEnvelope } from './envelope.ts';
import { type Judgement, throughGates } from './gates.ts';
import { grantedRules } from './grants.ts';
import { answerFor, asksHub, outcomeAtHub } from './hub-decisions.ts';
import type { Range, SeenNotification, SeenParams, SeenRequest } from './peek/types.ts';
import { type Preview, previewOf, previewOfBytes } from './preview.ts';

type SeenCall = SeenRequest | SeenNotification;

interface LookedAt {
  readonly call: Call;
  readonly ref: CallRef;
  readonly range: Range | undefined;
  readonly fault: string | undefined;
  readonly envelope: LazyEnvelope;
}

interface ReadArgs {
  readonly hash: string;
  /** Where they stand in the message; a call may have none. */
  readonly range: Range | undefined;
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
  private readonly text: () => string;
  private parsed: JsonObject | undefined;
  private readonly context: Context;
  private readonly ref: CallRef;
  private readonly envelope: LazyEnvelope;
  private grants: readonly string[] | undefined;

  constructor(given: {
    context: Context;
    ref: CallRef;
    tool: string;
    text: () => string;
    bytesIn: number;
    envelope: LazyEnvelope;
  }) {
    const { context, ref, tool, text, bytesIn, envelope } = given;
    this.identity = context.config.identity;
    this.server_name = ref.server_name;
    this.tool_name = tool;
    this.args_hash = ref.args_hash;
    this.bytes_in = bytesIn;
    this.text = text;
    this.parsed = undefined;
    this.context = context;
    this.ref = ref;
    this.envelope = envelope;
    this.grants = undefined;
  }

  /** Looked up when a rule asks: most never do. */
  get approved(): readonly string[] {
    const { context, ref, envelope, tool_name: tool } = this;
    this.grants ??= grantedRules(context, { ref, envelope, tool, args: () => this.args });
    return this.grants;
  }

  get round(): string | undefined {
    const { context, envelope, tool_name, args_hash } = this;
    if (!envelope.mayHoldInput) return undefined;
    return context.inputRounds.roundOf({ tool_name, args_hash }, envelope.rest);
  }

  get args(): JsonObject {
    this.parsed ??= objectOf(this.text());
    return this.parsed;
  }
}

/** Decides a call and carries the decision out. */
export function governCall(context: Context, step: Step, seen: SeenCall): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  const read = readCall(context, step, seen);
  const decided = { ...concluded(context, step, read), id };
  const { approval } = decided.outcome.decision;
  recordStart(context, step, decided);
  if (approval?.wait === 'hold' && id !== undefined) return holdCall(context, step, decided);
  const told = approval === undefined ? decided : askForRetry(context, step, decided);
  recordDecision(context, step, told);
  applyDecision(context, step, told);
}

/** The decision on a call, with the grants that it uses up. */
export function concluded(context: Context, step: Step, read: ReadCall): DecidedCall {
  if (read.fault === undefined && !read.shared) {
    return { read, id: undefined, ...decideWith(context, step, { read, said: NONE }) };
  }
  const rules = outcomeOf(context, step, read);
  const outcome = throughGates(context, step, { read, rules, said: NONE, bare: false });
  return grantsTaken(context, { read, id: undefined, outcome }, NONE);
}

function readCall(context: Context, step: Step, seen: SeenCall): ReadCall {
  const { bytes } = step;
  const { params } = seen;
  const { call, ref, range, fault, envelope } = lookAt(context, step, seen);
  const token = params.progressToken;
  return {
    call,
    ref,
    seq: nextSeq(context),
    preview: argsPreview(context, bytes, range),
    fault,
    shared: fault === undefined && asksHub(context, call),
    progressToken: token && context.decode(bytes, token.start, token.end),
    version: params.metaVersion ?? context.version,
    argsRange: range,
    argsText: range && (() => argsText(context, bytes, range)),
    argsBytes: range && (() => bytes.subarray(range.start, range.end)),
    envelope,
  };
}

/** What a call asks for. Nothing is counted by looking. */
export function lookAt(context: Context, step: Step, seen: SeenCall): LookedAt {
  const { config } = context;
  const { bytes } = step;
  const { params } = seen;
  const args = readArgs(context, bytes, params);
  const { tool_name: tool, fault } = nameOf(params.name);
  const { hash: args_hash, range } = args;
  const call_id = answerFor(step)?.callId ?? config.callId();
  const tool_name = shownName(context, tool);
  const ref = { call_id, server_name: config.serverName, tool_name, args_hash };
  const text = () => argsText(context, bytes, range);
  const envelope = envelopeOf(context, bytes, seen);
  const call = new LazyCall({ context, ref, tool, text, bytesIn: sizeOf(bytes), envelope });
  return { call, ref, range, envelope, fault: fault ?? args.fault ?? unclear(context, envelope) };
}

function envelopeOf(context: Context, bytes: Uint8Array, seen: SeenCall): LazyEnvelope {
  const { method, params, extra } = seen;
  const id = seen.kind === 'request' ? seen.id : undefined;
  return new LazyEnvelope(context, { bytes, method, id, params, extra });
}

/** Who looks at what is beside the arguments, or is asked about it, must see what the server sees. */
function unclear({ guard }: Context, envelope: LazyEnvelope): string | undefined {
  if (guard === undefined && envelope.bound === undefined) return undefined;
  return envelope.isAmbiguous
    ? 'Invalid call: a key stands twice beside its arguments.'
    : undefined;
}

function readArgs(context: Context, bytes: Uint8Array, params: SeenParams): ReadArgs {
  const { args, argsAreCanonical } = params;
  const { sha256, sha256Bytes } = context.config;
  // Without any arguments, or with null, a call has no arguments.
  const range = args === undefined || bytes[args.start] === LOWER_N ? undefined : args;
  if (range !== undefined && argsAreCanonical && sha256Bytes !== undefined) {
    const hash = sha256Bytes(bytes.subarray(range.start, range.end));
    return { hash, range, fault: undefined };
  }
  const text = argsText(context, bytes, range);
  const hashed = argsHash(text, sha256);
  if (hashed.ok) return { hash: hashed.hash, range, fault: undefined };
  // It has no canonical form, so what was sent is hashed as it is.
  const fault = context.redact(`Invalid arguments: ${hashed.message}.`);
  return { hash: sha256(text), range, fault: fault.slice(0, FAULT_LENGTH_MAX) };
}

/** The arguments as they were written. */
function argsText({ decode }: Context, bytes: Uint8Array, range: Range | undefined): string {
  return range === undefined ? NO_ARGS : decode(bytes, range.start, range.end);
}

function argsPreview(context: Context, bytes: Uint8Array, range: Range | undefined): Preview {
  if (range === undefined) return previewOf(context, NO_ARGS);
  return previewOfBytes(context, bytes, range);
}

export function nameOf(name: string | undefined): { tool_name: string; fault: string | undefined } {
  if (name === undefined || name === '') {
    return { tool_name: '(none)', fault: 'Invalid call: it does not name a tool.' };
  }
  if (name.length <= NAME_LENGTH_MAX) return { tool_name: name, fault: undefined };
  const fault = `Invalid call: the tool's name is longer than ${NAME_LENGTH_MAX} characters.`;
  return { tool_name: name.slice(0, NAME_LENGTH_MAX), fault };
}

/** A name is decided on as it is, and shown without the secrets that an agent may put there. */
export function shownName({ names, redact }: Context, name: string): string {
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

export function nextSeq(context: Context): number {
  return context.config.seq?.() ?? ++context.seq;
}

export function outcomeOf(context: Context, step: Step, read: ReadCall): Judgement {
  const { snapshot, state } = context;
  if (read.shared) return outcomeAtHub(context, step);
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
