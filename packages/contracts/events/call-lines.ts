// The events of calls that pass are almost all that a shim writes. Their members are put together here, from bodies
// that have exactly the fields of most calls, in their order. Whatever else there is goes the long way, by the
// writer that is made from the shapes, and so does what is wrong. A test holds both ways to the same text.
import { isPlain } from '../shape/check.ts';
import { FORMATS } from '../shape/formats.ts';
import { CALL_STATUS, COUNTER_SCOPE, ruleOutcome, TRANSPORT } from './call.ts';

/** What a line shows of a message, and of what size the message is. */
export interface ShownMessage {
  readonly bytes: unknown;
  readonly isTruncated: unknown;
  readonly text: unknown;
}

export interface ShortWay {
  /** Throws when the preview of a message does not fit its size. */
  readonly checkPreview: (shown: ShownMessage) => void;
  /** The JSON of decisions that were written before, and cannot change. */
  readonly decisions: WeakMap<object, string>;
}

const REF = ['call_id', 'server_name', 'tool_name', 'args_hash'] as const;
const START = ['call'] as const;
const STARTED = [...REF, 'transport', 'bytes_in', 'preview', 'seq', 'risk_class'] as const;
const ARGS = ['truncated', 'args_preview'] as const;
const DECISION = ['call', 'decision', 'counter_scope', 'trace'] as const;
const DECIDED = [...REF, 'risk_class'] as const;
const STEP = ['rule_id', 'kind', 'outcome', 'tally', 'note'] as const;
const TALLY = ['count', 'limit'] as const;
const END = ['call', 'status', 'latency_ms', 'bytes_out', 'preview'] as const;
const RESULT = ['truncated', 'result_preview'] as const;
const OUTCOMES = ruleOutcome.outcome.shape.values;
const SHA256 = FORMATS.sha256.pattern;
/** Short, with nothing to escape. */
const PLAIN_TEXT = /^[ !#-[\]-~]{1,64}$/;
/** With more of them the limits matter, and the long way knows those. */
const ITEMS_MAX = 100;

/** The members of an event without braces; undefined when it must go the long way. */
export function callMembers(type: string, body: unknown, way: ShortWay): string | undefined {
  switch (type) {
    case 'tool_call_start':
      return startMembers(body, way);
    case 'tool_call_decision':
      return decisionMembers(body, way);
    case 'tool_call_end':
      return endMembers(body, way);
    default:
      return undefined;
  }
}

function startMembers(body: unknown, { checkPreview }: ShortWay): string | undefined {
  if (!hasFields(body, START)) return undefined;
  const { call } = body;
  if (!hasFields(call, STARTED, STARTED.length - 1)) return undefined;
  const { transport, bytes_in: bytes, preview, seq, risk_class } = call;
  const ref = refMembers(call);
  const risks = riskMember(risk_class);
  if (ref === undefined || risks === undefined || !hasFields(preview, ARGS)) return undefined;
  const { truncated: isTruncated, args_preview: text } = preview;
  if (!isOneOf(TRANSPORT.values, transport) || !isCount(bytes) || !isCount(seq)) return undefined;
  if (seq === 0 || typeof isTruncated !== 'boolean' || typeof text !== 'string') return undefined;
  checkPreview({ bytes, isTruncated, text });
  const shown = `{"truncated":${isTruncated},"args_preview":${JSON.stringify(text)}}`;
  return `"call":{${ref},"transport":"${transport}","bytes_in":${bytes},"preview":${shown},"seq":${seq}${risks}}`;
}

function decisionMembers(body: unknown, { decisions }: ShortWay): string | undefined {
  if (!hasFields(body, DECISION, DECISION.length - 1)) return undefined;
  const { call, decision, counter_scope: scope, trace } = body;
  const isObject = typeof decision === 'object' && decision !== null;
  const json = isObject ? decisions.get(decision) : undefined;
  if (json === undefined || !hasFields(call, DECIDED, REF.length)) return undefined;
  const ref = refMembers(call);
  const risks = riskMember(call.risk_class);
  const traced = traceMember(trace);
  if (ref === undefined || risks === undefined || traced === undefined) return undefined;
  if (!isOneOf(COUNTER_SCOPE.values, scope)) return undefined;
  return `"call":{${ref}${risks}},"decision":${json},"counter_scope":"${scope}"${traced}`;
}

function endMembers(body: unknown, { checkPreview }: ShortWay): string | undefined {
  if (!hasFields(body, END)) return undefined;
  const { call, status, latency_ms, bytes_out: bytes, preview } = body;
  if (!hasFields(call, REF) || !hasFields(preview, RESULT)) return undefined;
  const { truncated: isTruncated, result_preview: text } = preview;
  const ref = refMembers(call);
  if (ref === undefined || !isOneOf(CALL_STATUS.values, status)) return undefined;
  if (!isCount(latency_ms) || !isCount(bytes)) return undefined;
  if (typeof isTruncated !== 'boolean' || typeof text !== 'string') return undefined;
  checkPreview({ bytes, isTruncated, text });
  const shown = `{"truncated":${isTruncated},"result_preview":${JSON.stringify(text)}}`;
  return `"call":{${ref}},"status":"${status}","latency_ms":${latency_ms},"bytes_out":${bytes},"preview":${shown}`;
}

type PlainFields<N extends string> = { readonly [K in N]: unknown };

/** Whether it is plain and has these fields in this order, of the last ones perhaps none, and no others. */
function hasFields<N extends string>(
  value: unknown,
  names: readonly N[],
  least = names.length,
): value is PlainFields<N> {
  if (!isPlain(value)) return false;
  let count = 0;
  for (const name in value) if (name !== names[count++]) return false;
  return count >= least;
}

const NO_REF = { call_id: '', server_name: '', tool_name: '', args_hash: '', json: undefined };
/** The events of a call have the same names, and come one behind the other. */
let last: { readonly [K in keyof typeof NO_REF]: string | undefined } = NO_REF;

function refMembers(call: PlainFields<(typeof REF)[number]>): string | undefined {
  const { call_id, server_name, tool_name, args_hash } = call;
  const isSame = call_id === last.call_id && args_hash === last.args_hash;
  if (isSame && tool_name === last.tool_name && server_name === last.server_name) return last.json;
  if (!isPlainText(call_id) || !isPlainText(server_name) || !isPlainText(tool_name)) {
    return undefined;
  }
  if (typeof args_hash !== 'string' || !SHA256.test(args_hash)) return undefined;
  const json = `"call_id":"${call_id}","server_name":"${server_name}","tool_name":"${tool_name}","args_hash":"${args_hash}"`;
  last = { call_id, server_name, tool_name, args_hash, json };
  return json;
}

function riskMember(classes: unknown): string | undefined {
  if (classes === undefined) return '';
  const items = itemsOf(classes, (name) => (isPlainText(name) ? `"${name}"` : undefined));
  return items === undefined ? undefined : `,"risk_class":[${items}]`;
}

function traceMember(trace: unknown): string | undefined {
  if (trace === undefined) return '';
  const steps = itemsOf(trace, stepJson);
  return steps === undefined ? undefined : `,"trace":[${steps}]`;
}

function stepJson(step: unknown): string | undefined {
  if (!hasFields(step, STEP)) return undefined;
  const { rule_id, kind, outcome, tally, note } = step;
  if (!isPlainText(rule_id) || !isPlainText(kind) || !isOneOf(OUTCOMES, outcome)) return undefined;
  const counted = tally === null ? 'null' : tallyJson(tally);
  if (counted === undefined || note !== null) return undefined;
  return `{"rule_id":"${rule_id}","kind":"${kind}","outcome":"${outcome}","tally":${counted},"note":null}`;
}

function tallyJson(tally: unknown): string | undefined {
  if (!hasFields(tally, TALLY)) return undefined;
  const { count, limit } = tally;
  if (!Number.isFinite(count) || !Number.isFinite(limit)) return undefined;
  return `{"count":${String(count)},"limit":${String(limit)}}`;
}

function itemsOf(list: unknown, json: (item: unknown) => string | undefined): string | undefined {
  if (!Array.isArray(list) || list.length > ITEMS_MAX) return undefined;
  let text = '';
  for (let at = 0; at < list.length; at++) {
    const item = json(list[at]);
    if (item === undefined) return undefined;
    text += at === 0 ? item : `,${item}`;
  }
  return text;
}

function isOneOf<V extends string>(values: readonly V[], value: unknown): value is V {
  return values.some((one) => one === value);
}

function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && PLAIN_TEXT.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
