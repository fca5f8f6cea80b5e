// The call as rules and gates see it. Its arguments and the members around them are
// parsed on first use: most policies never need them.
import type { CallRef, JsonObject } from '@subluminal/contracts';
import { argsHash } from '../json/index.ts';
import { type MemberRange, membersAt } from '../json/member-ranges.ts';
import { asciiBytes } from '../json/text.ts';
import { LOWER_N, OPEN_BRACE } from '../json/units.ts';
import type { Call, Identity } from '../policy/index.ts';
import { asksHub } from './ask-hub.ts';
import { grantedRules } from './ask-people.ts';
import { type CallBrief, recordedBrief } from './call-brief.ts';
import {
  type Context,
  type MessageStep,
  nextSeq,
  parsedRest,
  parseObject,
  shownName,
  sizeOf,
} from './context.ts';
import type { Envelope } from './guard.ts';
import { STATE } from './input-rounds.ts';
import { isWord } from './peek/members.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import { isLabelValue, PROTOCOL, REQUEST_LABELS } from './peek/protocol-names.ts';
import type {
  ByteRange,
  MessageId,
  SeenNotification,
  SeenParams,
  SeenRequest,
} from './peek/types.ts';
import { NOT_INSPECTED, type Preview, previewBytes, previewText } from './record-call.ts';

export type SeenCall = SeenRequest | SeenNotification;

/** A call that has been read, before anything is decided. */
export interface ReadCall {
  readonly call: Call;
  readonly ref: CallRef;
  readonly seq: number;
  readonly preview: Preview;
  /** Why it cannot be decided on: it is not a well-formed call. */
  readonly fault: string | undefined;
  /** The JSON of the token for progress, if the caller asks for progress. */
  readonly progressToken: string | undefined;
  readonly version: string | undefined;
  /** The id that the model gave to the call, where the client passes it on. */
  readonly toolUseId?: string | undefined;
  readonly streamHash?: string;
  /** Where the arguments stand in the message, if they were read and there are any. */
  readonly argsRange?: ByteRange | undefined;
  /** The arguments as they were written, for a step that comes later: a held call waits. */
  readonly argsText?: (() => string) | undefined;
  readonly argsBytes?: (() => Uint8Array) | undefined;
  /** The members around the arguments, if they were read. */
  readonly envelope?: LazyEnvelope | undefined;
  /** What its agent knows of it, bounded and without secrets. */
  readonly brief?: CallBrief | undefined;
  /** The hub decides it. */
  readonly shared: boolean;
}

/** A call as its message shows it, before anything is counted. */
export interface ViewedCall {
  readonly call: Call;
  readonly ref: CallRef;
  readonly range: ByteRange | undefined;
  readonly fault: string | undefined;
  readonly envelope: LazyEnvelope;
}

const NAME_LENGTH_MAX = 1_024;
const NO_ARGS = '{}';
const FAULT_LENGTH_MAX = 200;

export function readCall(step: MessageStep, seen: SeenCall): ReadCall {
  const { bytes } = step;
  const { params } = seen;
  const { call, ref, range, envelope, fault: malformed } = viewCall(step, seen);
  const fault = malformed ?? ambiguityAround(step.context, envelope);
  const { progressToken: token, toolUseId: toolUse } = params;
  return {
    call,
    ref,
    seq: nextSeq(step.context),
    preview:
      range === undefined
        ? previewText(step.context, NO_ARGS)
        : previewBytes(step.context, bytes, range),
    fault,
    shared: fault === undefined && mayAskHub(step.context) && asksHub(step.context, call),
    progressToken: token && step.context.decode(bytes, token.start, token.end),
    version: params.metaVersion ?? step.context.version,
    toolUseId: toolUse && step.context.decode(bytes, toolUse.start + 1, toolUse.end - 1),
    argsRange: range,
    argsText: range && (() => step.context.decode(bytes, range.start, range.end)),
    argsBytes: range && (() => bytes.subarray(range.start, range.end)),
    envelope,
    brief: briefOf(step.context, seen, ref.call_id),
  };
}

function briefOf({ config, redact }: Context, seen: SeenCall, callId: string) {
  const brief = seen.kind === 'request' ? config.brief?.(seen.id.json, callId) : undefined;
  return brief && recordedBrief(brief, redact);
}

function mayAskHub({ config }: Context): boolean {
  return config.hub === true || config.hubNeeds?.asksAlways === true;
}

/** Reads the call of a message, once. Counts nothing. */
export function viewCall(step: MessageStep, seen: SeenCall): ViewedCall {
  const { message, bytes } = step;
  if (message?.call !== undefined) return message.call;
  const { config } = step.context;
  const { params, method, extra } = seen;
  const args = readArgs(step.context, bytes, params);
  const { tool_name: tool, fault } = readToolName(params.name);
  const { range } = args;
  const ref: CallRef = {
    call_id: config.callId(),
    server_name: config.serverName,
    tool_name: shownName(step.context, tool),
    args_hash: args.hash,
  };
  const id = seen.kind === 'request' ? seen.id : undefined;
  const envelope = new LazyEnvelope(step.context, { bytes, method, id, params, extra });
  const text = () => argsText(step.context, bytes, range);
  const call = new LazyCall(step.context, { ref, tool, text, bytesIn: sizeOf(bytes), envelope });
  if (call.round !== undefined) envelope.hideState();
  const viewed = { call, ref, range, envelope, fault: fault ?? args.fault };
  if (message !== undefined) message.call = viewed;
  return viewed;
}

/** Why the members beside the arguments are ambiguous: gates and people must see what the server sees. */
export function ambiguityAround({ guard }: Context, envelope: LazyEnvelope): string | undefined {
  if (guard === undefined && envelope.bound === undefined) return undefined;
  return envelope.isAmbiguous
    ? 'Invalid call: a key stands twice beside its arguments.'
    : undefined;
}

interface ReadArgs {
  readonly hash: string;
  /** Where they stand in the message; a call may have none. */
  readonly range: ByteRange | undefined;
  readonly fault: string | undefined;
}

function readArgs(context: Context, bytes: Uint8Array, params: SeenParams): ReadArgs {
  const { args, argsAreCanonical } = params;
  const { sha256Bytes } = context.config;
  // Arguments that are missing or null are no arguments.
  const range = args === undefined || bytes[args.start] === LOWER_N ? undefined : args;
  if (range !== undefined && argsAreCanonical && sha256Bytes !== undefined) {
    const hash = sha256Bytes(bytes.subarray(range.start, range.end));
    return { hash, range, fault: undefined };
  }
  return { ...hashArgs(context, argsText(context, bytes, range)), range };
}

/** The hash of arguments as they were written, and why a call with them cannot be decided. */
export function hashArgs(
  { config: { sha256 }, redact }: Context,
  text: string,
): Pick<ReadArgs, 'hash' | 'fault'> {
  const hashed = argsHash(text, sha256);
  if (hashed.ok) return { hash: hashed.hash, fault: undefined };
  // Arguments without a canonical form are hashed as they were sent.
  const fault = redact(`Invalid arguments: ${hashed.message}.`);
  return { hash: sha256(text), fault: fault.slice(0, FAULT_LENGTH_MAX) };
}

function argsText({ decode }: Context, bytes: Uint8Array, range: ByteRange | undefined): string {
  return range === undefined ? NO_ARGS : decode(bytes, range.start, range.end);
}

export function readToolName(name: string | undefined): {
  tool_name: string;
  fault: string | undefined;
} {
  if (name === undefined || name === '') {
    return { tool_name: '(none)', fault: 'Invalid call: it does not name a tool.' };
  }
  if (name.length <= NAME_LENGTH_MAX) return { tool_name: name, fault: undefined };
  const fault = `Invalid call: the tool's name is longer than ${NAME_LENGTH_MAX} characters.`;
  return { tool_name: name.slice(0, NAME_LENGTH_MAX), fault };
}

/** A call whose arguments were not read. */
export function unreadCall(
  context: Context,
  facts: Pick<Call, 'args_hash' | 'bytes_in'> & { readonly tool: string },
): Omit<ReadCall, 'seq' | 'fault' | 'shared'> {
  const { serverName: server_name, identity, callId } = context.config;
  const { tool: tool_name, args_hash, bytes_in } = facts;
  const shown = shownName(context, tool_name);
  return {
    call: { identity, server_name, tool_name, args_hash, bytes_in },
    ref: { call_id: callId(), server_name, tool_name: shown, args_hash },
    preview: NOT_INSPECTED,
    progressToken: undefined,
    version: context.version,
  };
}

/** A call whose arguments and grants are read when a rule asks for them. */
class LazyCall implements Call {
  readonly identity: Identity;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
  readonly bytes_in: number;
  private readonly context: Context;
  private readonly ref: CallRef;
  private readonly text: () => string;
  private readonly envelope: LazyEnvelope;
  private parsed: JsonObject | undefined;
  private grants: readonly string[] | undefined;
  private asked: { readonly round: string | undefined } | undefined;

  constructor(
    context: Context,
    given: {
      ref: CallRef;
      tool: string;
      text: () => string;
      bytesIn: number;
      envelope: LazyEnvelope;
    },
  ) {
    const { ref } = given;
    this.identity = context.config.identity;
    this.server_name = ref.server_name;
    this.tool_name = given.tool;
    this.args_hash = ref.args_hash;
    this.bytes_in = given.bytesIn;
    this.context = context;
    this.ref = ref;
    this.text = given.text;
    this.envelope = given.envelope;
  }

  get approved(): readonly string[] {
    const { context, ref, envelope, tool_name: tool } = this;
    this.grants ??= grantedRules(context, { ref, envelope, tool, args: () => this.args });
    return this.grants;
  }

  get round(): string | undefined {
    const { context, envelope, tool_name, args_hash } = this;
    if (!envelope.mayHoldInput) return undefined;
    this.asked ??= {
      round: context.inputRounds.roundOf({ tool_name, args_hash }, () => envelope.rest),
    };
    return this.asked.round;
  }

  get args(): JsonObject {
    this.parsed ??= parseObject(this.text());
    return this.parsed;
  }
}

interface EnclosingMessage {
  readonly bytes: Uint8Array;
  readonly method: string;
  /** The method of an answer is that of its request: it does not stand in the message. */
  readonly isAnswer?: boolean;
  readonly id: MessageId | undefined;
  /** It has members that no revision of the protocol knows. */
  readonly extra: boolean;
  readonly params?: SeenParams | undefined;
  /** A text in it that only the server can read. */
  readonly opaque?: string | undefined;
}

const CALLED: readonly string[] = ['name', 'arguments'];
const META = '_meta';
const META_KEY = asciiBytes(`"${META}":`);

/**
 * The parts of a message that its value does not hold: its id, its method, and the members around the
 * arguments of a call, or around the params, the result or the error of another message.
 */
export class LazyEnvelope implements Envelope {
  readonly written: string;
  readonly method: string;
  private readonly context: Pick<Context, 'decode'>;
  private readonly enclosing: EnclosingMessage;
  private besides: readonly string[] = CALLED;
  private besidesText: string | undefined;

  constructor(context: Pick<Context, 'decode'>, enclosing: EnclosingMessage) {
    const { id, method, isAnswer = false, opaque } = enclosing;
    this.context = context;
    this.enclosing = enclosing;
    this.method = method;
    const written = isAnswer ? (id?.json ?? '') : `${id?.json ?? ''} ${method}`;
    this.written = opaque === undefined ? written : `${written} ${opaque}`;
  }

  /** The state of the server that stands in it came from the server: nobody judges it or is shown it. */
  hideState(): void {
    this.besides = [...CALLED, STATE];
    this.besidesText = undefined;
  }

  get rest(): JsonObject | undefined {
    const { restText } = this;
    return restText === undefined ? undefined : parsedRest(restText).value;
  }

  get restText(): string | undefined {
    const { extra, params } = this.enclosing;
    if (extra || params?.more === true)
      this.besidesText ??= this.labelsAlone() ?? this.text(this.besides);
    return this.besidesText;
  }

  /** Clients put labels that change with each call into `_meta`, and most put nothing else beside the arguments. */
  private labelsAlone(): string | undefined {
    const { bytes, method, extra, params } = this.enclosing;
    if (method !== TOOLS_CALL || extra || params?.meta === undefined || params.bound)
      return undefined;
    const start = params.meta.start - META_KEY.length;
    if (!isWord(META_KEY, bytes, start)) return undefined;
    return `{"params":{${this.context.decode(bytes, start, params.meta.end)}}}`;
  }

  /**
   * The members beside the arguments as written, without the labels of a request. They make two calls with
   * the same arguments two different calls.
   */
  get bound(): string | undefined {
    const { extra, params } = this.enclosing;
    if (!extra && params?.bound !== true) return undefined;
    return `${this.text([...CALLED, META])} ${this.boundMeta()}`;
  }

  /** Whether it may hold the answers of a further round; most calls have only one round. */
  get mayHoldInput(): boolean {
    return this.enclosing.params?.bound === true;
  }

  /** Whether a key stands twice beside the arguments: two readers could see two values. */
  get isAmbiguous(): boolean {
    const { restText } = this;
    return restText !== undefined && parsedRest(restText).hasTwins;
  }

  /** `_meta` without its labels. */
  private boundMeta(): string {
    const { bytes } = this.enclosing;
    const meta = this.params(membersAt(bytes, 0)).find(({ key }) => key === META);
    if (meta === undefined) return '';
    if (bytes[meta.value.start] !== OPEN_BRACE) return this.memberText(meta);
    const isLabel = ({ key, value }: MemberRange) => {
      const label = REQUEST_LABELS.indexOf(key);
      return label !== -1 && isLabelValue(label, bytes, value);
    };
    const members = membersAt(bytes, meta.value.start).filter((member) => !isLabel(member));
    return members.map((member) => this.memberText(member)).join(',');
  }

  private params(top: readonly MemberRange[]): readonly MemberRange[] {
    const { bytes, method } = this.enclosing;
    if (method !== TOOLS_CALL) return [];
    const params = top.find(({ key }) => key === 'params');
    return params === undefined ? [] : membersAt(bytes, params.value.start);
  }

  private memberText({ start, value }: MemberRange): string {
    return this.context.decode(this.enclosing.bytes, start, value.end);
  }

  private text(leftOut: readonly string[]): string {
    const top = membersAt(this.enclosing.bytes, 0);
    const groups = [
      this.group('params', this.params(top), (key) => leftOut.includes(key)),
      this.group('message', top, (key) => PROTOCOL.top.keys.includes(key)),
    ];
    return `{${groups.filter((group) => group !== '').join(',')}}`;
  }

  private group(
    name: string,
    members: readonly MemberRange[],
    isLeftOut: (key: string) => boolean,
  ): string {
    const texts = members
      .filter(({ key }) => !isLeftOut(key))
      .map((member) => this.memberText(member));
    return texts.length === 0 ? '' : `"${name}":{${texts.join(',')}}`;
  }
}
