// The three events of an ordinary call, written without building what is written: each field is
// read once, checked, and put in its place. Whatever is out of the ordinary, down to the order of
// the fields, gives undefined: it goes the long way of guards and JSON.stringify, which also says
// what is wrong with it.
import { isPlain } from '../shape/check.ts';
import { FORMATS } from '../shape/formats.ts';
import { STRING_LENGTH_MAX } from '../shape/shape.ts';
import {
  CALL_STATUS,
  CLASS_LENGTH_MAX,
  CLASSES_MAX,
  CONTENT_OUTCOME,
  FINDING_LENGTH_MAX,
  FINDINGS_MAX,
  TRANSPORT,
  TRUNCATED_PREVIEW,
} from './call.ts';
import type { InspectLimits } from './guard-bodies.ts';
import { fitsBytes } from './guards.ts';
import { COUNTER_SCOPE, type EventType } from './types.ts';

export interface QuickBodies {
  /** The body as JSON without its opening brace. */
  body(type: EventType, body: unknown): string | undefined;
  /** Keeps the JSON of a decision that can't change, for the calls that get the same one. */
  remember(decision: unknown, json: string): void;
}

type Text = string | undefined;
type Parts = Readonly<Record<string, unknown>>;
interface Shown {
  readonly key: 'args_preview' | 'result_preview';
  readonly bytes: unknown;
}

interface LastRef {
  readonly call_id: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
  readonly text: Text;
}

const REF = ['call_id', 'server_name', 'tool_name', 'args_hash'];
const STARTED = [...REF, 'transport', 'bytes_in', 'preview', 'seq', 'risk_class'];
const STARTED_NEEDED = 8;
const DECIDED = [...REF, 'risk_class', 'content'];
const TREATED = [...REF, 'content'];
const CONTENT = ['action', 'findings'];
const DECISION = ['call', 'decision', 'counter_scope'];
const DECISION_NEEDED = 2;
const END = ['call', 'status', 'latency_ms', 'bytes_out', 'preview'];

const SHA256 = FORMATS.sha256.pattern;
const SHORT = 64;
const NAMES_MAX = 256;

class Quick implements QuickBodies {
  readonly #limits: InspectLimits;
  /** The JSON of names: they come again and again. */
  readonly #names = new Map<string, string>();
  #lastRef: LastRef = {
    call_id: '',
    server_name: '',
    tool_name: '',
    args_hash: '',
    text: undefined,
  };
  #decision: unknown;
  #decisionJson: string | undefined;

  constructor(limits: InspectLimits) {
    this.#limits = limits;
  }

  body(type: EventType, body: unknown): Text {
    switch (type) {
      case 'tool_call_start':
        return this.#start(body);
      case 'tool_call_decision':
        return this.#decided(body);
      case 'tool_call_end':
        return this.#end(body);
      default:
        return undefined;
    }
  }

  remember(decision: unknown, json: string): void {
    if (!isUnchanging(decision)) return;
    this.#decision = decision;
    this.#decisionJson = json;
  }

  #start(body: unknown): Text {
    if (!has(body, REF_OF_CALL, 1)) return undefined;
    const { call } = body;
    if (!has(call, STARTED, STARTED_NEEDED)) return undefined;
    const { transport, bytes_in, preview, seq, risk_class } = call;
    const ref = this.#ref(call);
    const by = oneOf(TRANSPORT.values, transport);
    const shown = this.#preview(preview, { key: 'args_preview', bytes: bytes_in });
    const risk = this.#classes(risk_class);
    if (ref === undefined || by === undefined || shown === undefined || risk === undefined) {
      return undefined;
    }
    if (!isCount(bytes_in, 0) || !isCount(seq, 1)) return undefined;
    return `"call":{${ref},"transport":${by},"bytes_in":${bytes_in},"preview":${shown},"seq":${seq}${risk}}}`;
  }

  #decided(body: unknown): Text {
    if (!has(body, DECISION, DECISION_NEEDED)) return undefined;
    const { call, decision, counter_scope } = body;
    const json = this.#decisionJson;
    if (json === undefined || decision !== this.#decision) return undefined;
    if (!has(call, DECIDED, REF.length) && !has(call, TREATED, REF.length)) return undefined;
    const ref = this.#ref(call);
    const risk = this.#classes(call['risk_class']);
    const content = this.#content(call);
    if (ref === undefined || risk === undefined || content === undefined) return undefined;
    const text = `"call":{${ref}${risk}${content}},"decision":${json}`;
    if (counter_scope === undefined) return 'counter_scope' in body ? undefined : `${text}}`;
    const scope = oneOf(COUNTER_SCOPE.values, counter_scope);
    return scope === undefined ? undefined : `${text},"counter_scope":${scope}}`;
  }

  #end(body: unknown): Text {
    if (!has(body, END, END.length)) return undefined;
    const { call, status, latency_ms, bytes_out, preview } = body;
    if (!has(call, TREATED, REF.length)) return undefined;
    const ref = this.#ref(call);
    const content = this.#content(call);
    const how = oneOf(CALL_STATUS.values, status);
    const shown = this.#preview(preview, { key: 'result_preview', bytes: bytes_out });
    if (ref === undefined || how === undefined || shown === undefined) return undefined;
    if (content === undefined || !isCount(latency_ms, 0) || !isCount(bytes_out, 0)) {
      return undefined;
    }
    return `"call":{${ref}${content}},"status":${how},"latency_ms":${latency_ms},"bytes_out":${bytes_out},"preview":${shown}}`;
  }

  #ref({ call_id, server_name, tool_name, args_hash }: Parts): Text {
    const last = this.#lastRef;
    // The start and the decision of a call come one after the other.
    if (
      call_id === last.call_id &&
      args_hash === last.args_hash &&
      tool_name === last.tool_name &&
      server_name === last.server_name
    ) {
      return last.text;
    }
    if (!isText(call_id) || !isText(server_name) || !isText(tool_name)) return undefined;
    if (typeof args_hash !== 'string' || !SHA256.test(args_hash)) return undefined;
    const tool = this.#name(tool_name);
    const text = `"call_id":${quoted(call_id)},"server_name":${this.#name(server_name)},"tool_name":${tool},"args_hash":"${args_hash}"`;
    this.#lastRef = { call_id, server_name, tool_name, args_hash, text };
    return text;
  }

  #name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const json = JSON.stringify(name);
    if (this.#names.size >= NAMES_MAX) this.#names.clear();
    if (name.length <= SHORT) this.#names.set(name, json);
    return json;
  }

  /** The member of that name; nothing when there are no classes. */
  #classes(classes: unknown): Text {
    if (classes === undefined) return '';
    const list = this.#list(classes, CLASSES_MAX, CLASS_LENGTH_MAX);
    return list === undefined ? undefined : `,"risk_class":${list}`;
  }

  /** The member of that name; nothing when nothing was found. */
  #content(call: Parts): Text {
    const content = call['content'];
    if (content === undefined) return 'content' in call ? undefined : '';
    if (!has(content, CONTENT, CONTENT.length)) return undefined;
    const action = oneOf(CONTENT_OUTCOME.fields.action.shape.values, content['action']);
    const findings = this.#list(content['findings'], FINDINGS_MAX, FINDING_LENGTH_MAX);
    if (action === undefined || findings === undefined) return undefined;
    return `,"content":{"action":${action},"findings":${findings}}`;
  }

  #list(texts: unknown, itemsMax: number, lengthMax: number): Text {
    if (!Array.isArray(texts) || texts.length > itemsMax) return undefined;
    let list = '';
    for (let at = 0; at < texts.length; at++) {
      const text: unknown = texts[at];
      if (!isText(text) || text.length > lengthMax) return undefined;
      list += at === 0 ? this.#name(text) : `,${this.#name(text)}`;
    }
    return `[${list}]`;
  }

  /** By the truncation contract: what was not inspected is not shown, and what is stays small. */
  #preview(preview: unknown, { key, bytes }: Shown): Text {
    if (!has(preview, key === 'args_preview' ? ARGS_SHOWN : RESULT_SHOWN, 1)) return undefined;
    const { truncated } = preview;
    const text = preview[key];
    const { inspectBytesMax, previewBytesMax, utf8Bytes } = this.#limits;
    if (typeof truncated !== 'boolean' || !isCount(bytes, 0)) return undefined;
    if (bytes > inspectBytesMax && !truncated) return undefined;
    if (text === undefined) return key in preview ? undefined : `{"truncated":${truncated}}`;
    if (typeof text !== 'string') return undefined;
    const isFit =
      bytes > inspectBytesMax
        ? text === TRUNCATED_PREVIEW
        : fitsBytes(text, previewBytesMax, utf8Bytes);
    return isFit ? `{"truncated":${truncated},"${key}":${JSON.stringify(text)}}` : undefined;
  }
}

const REF_OF_CALL = ['call'];
const ARGS_SHOWN = ['truncated', 'args_preview'];
const RESULT_SHOWN = ['truncated', 'result_preview'];

export function quickBodies(limits: InspectLimits): QuickBodies {
  return new Quick(limits);
}

/** Whether an object has these fields in this order, of which the last ones may be missing. */
function has(value: unknown, names: readonly string[], needed: number): value is Parts {
  if (!isPlain(value)) return false;
  let count = 0;
  for (const name in value) {
    if (name !== names[count]) return false;
    count++;
  }
  return count >= needed;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= STRING_LENGTH_MAX;
}

function isCount(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= min;
}

function oneOf(values: readonly string[], value: unknown): Text {
  return typeof value === 'string' && values.includes(value) ? `"${value}"` : undefined;
}

/** The JSON of an id: short, and almost never with anything to escape. */
function quoted(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Whether nothing about a value can change any more, so that one check of it is enough. */
function isUnchanging(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.isFrozen(value)) return false;
  const fields = Object.values(Object.getOwnPropertyDescriptors(value));
  return fields.every((field) => 'value' in field && isUnchanging(field.value));
}
