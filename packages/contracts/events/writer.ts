// From what happened to a line of the stream, for producers.
import { boundedHint, HINT, type Hint } from '../decision/decision.ts';
import { check, describe, isLonger, isPlain } from '../shape/check.ts';
import { FORMATS, PACK_VERSION } from '../shape/formats.ts';
import {
  type ArrayShape,
  closed,
  type ObjectShape,
  type Shape,
  STRING_LENGTH_MAX,
  type StringShape,
} from '../shape/shape.ts';
import { EVENT_DECISION, MAX_INSPECT_BYTES, MAX_PREVIEW_BYTES, TRUNCATED_PREVIEW } from './call.ts';
import { PRODUCER, type Producer } from './envelope.ts';
import { EVENT_LINE_LENGTH_MAX } from './parse.ts';
import { SECRET_INJECTION_WRITTEN } from './secret-injection.ts';
import { EVENT_BODIES, type EventBody, type EventType } from './types.ts';

export interface EventWriter {
  /** One event as one line of JSON, without its newline. Throws on what contract A forbids. */
  line<T extends EventType>(type: T, body: EventBody<NoInfer<T>>, ts: string): string;
}

/** The limits of inspection that the producer works with. */
export interface InspectLimits {
  readonly inspectBytesMax: number;
  readonly previewBytesMax: number;
  /** Counts the bytes of a text in UTF-8; the outside may have a faster one. */
  readonly utf8Bytes?: ((text: string) => number) | undefined;
}

const RFC3339 = FORMATS.rfc3339.pattern;

/** Checks and serialises what every event of this producer shares, once. */
export function eventWriter(producer: Producer, limits: Partial<InspectLimits> = {}): EventWriter {
  const { inspectBytesMax = MAX_INSPECT_BYTES, previewBytesMax = MAX_PREVIEW_BYTES } = limits;
  if (!(previewBytesMax >= 0 && previewBytesMax <= STRING_LENGTH_MAX)) {
    throw new MalformedEvent('previewBytesMax', `from 0 to ${STRING_LENGTH_MAX}`);
  }
  const inspect: InspectLimits = { inspectBytesMax, previewBytesMax, utf8Bytes: limits.utf8Bytes };
  const shared = `","${compileMembers(PRODUCER, '')(producer).slice(1)},`;
  let lastTs = '';

  return {
    line(type, body, ts) {
      // Many events share their millisecond.
      if (ts !== lastTs) {
        if (!RFC3339.test(ts)) throw new MalformedEvent('ts', FORMATS.rfc3339.words);
        lastTs = ts;
      }
      const { write, watched } = bodyWriter(type);
      for (const path in watched) watched[path] = undefined;
      const members = write(body);
      checkPreview(watched, inspect);
      if (watched['error'] !== undefined && watched['status'] === 'OK') {
        throw new MalformedEvent('error', 'absent when the status is OK');
      }
      const head = `{"v":"${PACK_VERSION}","type":"${type}","ts":"${ts}${shared}`;
      const line = `${head}${members}}`;
      return line.length <= EVENT_LINE_LENGTH_MAX ? line : shorter(line, type);
    },
  };
}

interface BodyWriter {
  readonly write: JsonWriter;
  readonly watched: Watched;
}

const WRITERS = new Map<string, BodyWriter>();

/** Compiled when the first event of the type is written: most commands write few types. */
function bodyWriter(type: string): BodyWriter {
  const known = WRITERS.get(type);
  if (known !== undefined) return known;
  const bodies = new Map(Object.entries(EVENT_BODIES)).set(
    'secret_injection',
    SECRET_INJECTION_WRITTEN,
  );
  const body = bodies.get(type);
  if (body === undefined) throw new MalformedEvent('type', 'a type of contract A');
  const watched: Watched = {};
  // Closed: a field with the name of one of the envelope would make a line with that key twice.
  const write = compileMembers(closed(body), '', { paths: WATCHED, watched, wrap });
  const made = { write, watched };
  WRITERS.set(type, made);
  return made;
}

/** Of the start and of the end of a call. */
const WATCHED: ReadonlySet<string> = new Set([
  'call.bytes_in',
  'call.preview.truncated',
  'call.preview.args_preview',
  'bytes_out',
  'preview.truncated',
  'preview.result_preview',
  'status',
  'error',
]);

/** The truncation contract: what was not inspected says so and is not shown; previews stay small. */
function checkPreview(watched: Watched, limits: InspectLimits): void {
  const bytes = watched['call.bytes_in'] ?? watched['bytes_out'];
  if (typeof bytes !== 'number') return;
  const { inspectBytesMax, previewBytesMax, utf8Bytes } = limits;
  const isInspected = bytes <= inspectBytesMax;
  const isTruncated = watched['call.preview.truncated'] ?? watched['preview.truncated'];
  if (!isInspected && isTruncated !== true) {
    throw new MalformedEvent('preview.truncated', 'true above the limit of inspection');
  }
  const text = watched['call.preview.args_preview'] ?? watched['preview.result_preview'];
  if (typeof text !== 'string' || text === TRUNCATED_PREVIEW) return;
  if (!isInspected) {
    throw new MalformedEvent('preview', `absent or ${TRUNCATED_PREVIEW} above that limit`);
  }
  if (!fitsBytes(text, previewBytesMax, utf8Bytes)) {
    throw new MalformedEvent('preview', `a text of at most ${previewBytesMax} bytes`);
  }
}

function wrap(shape: Shape, write: JsonWriter): JsonWriter {
  if (shape === EVENT_DECISION) return remembering(write);
  if (shape !== HINT) return write;
  // A suggestion is as large as what the agent sent: beyond the limits it is left out.
  return (value) => write(isHint(value) ? boundedHint(value) : value);
}

function isHint(value: unknown): value is Hint {
  return typeof value === 'object' && value !== null && 'suggested_args' in value;
}

/** The decision of most calls of a session is one and the same: it is checked and spelled out once. */
function remembering(write: JsonWriter): JsonWriter {
  const known = new WeakMap<object, string>();
  return (value) => {
    const isObject = typeof value === 'object' && value !== null;
    const text = isObject ? known.get(value) : undefined;
    if (text !== undefined) return text;
    const written = write(value);
    if (isObject && isUnchanging(value)) known.set(value, written);
    return written;
  };
}

/** Whether nothing about a value can change any more, so that one check of it is enough. */
function isUnchanging(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.isFrozen(value)) return false;
  const fields = Object.values(Object.getOwnPropertyDescriptors(value));
  return fields.every((field) => 'value' in field && isUnchanging(field.value));
}

/**
 * Suggested arguments are as long as what the agent sent. An event must not fail for that: it is
 * written without them, and the agent has them from the answer.
 */
function shorter(line: string, type: string): string {
  const text = JSON.stringify(JSON.parse(line), (key, value: unknown) =>
    key === 'suggested_args' ? null : value,
  );
  if (text.length <= EVENT_LINE_LENGTH_MAX) return text;
  throw new MalformedEvent(type, `shorter than ${EVENT_LINE_LENGTH_MAX} characters`);
}

const BEYOND_ASCII = /[^\x00-\x7f]/;

/** Whether a text takes at most that many bytes in UTF-8, counting only when it may not. */
function fitsBytes(
  text: string,
  bytesMax: number,
  utf8Bytes: (text: string) => number = countBytes,
): boolean {
  if (text.length * 3 <= bytesMax) return true;
  return text.length <= bytesMax && utf8Bytes(text) <= bytesMax;
}

function countBytes(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

// Writes a value as JSON by its shape, for producers. A writer is compiled from a shape once; it reads
// each field once, checks it and puts it in its place, so that what was checked is what is written.

/** A producer tried to emit an event that breaks contract A: a bug, so it throws. */
export class MalformedEvent extends Error {
  readonly code = 'SUB_EVENT_MALFORMED';

  constructor(field: string, expected: string) {
    super(`SUB_EVENT_MALFORMED: \`${field}\` must be ${expected}.`);
    this.name = 'MalformedEvent';
  }
}

/** Fields that rules across fields need, by their path; the writer notes what it has written. */
export type Watched = { [path: string]: unknown };
export type JsonWriter = (value: unknown) => string;

interface CompileOptions {
  /** Which paths to watch; those that the shape has are added to `watched`. */
  readonly paths?: ReadonlySet<string>;
  readonly watched?: Watched;
  /** Replaces the writer of some shapes. */
  readonly wrap?: (shape: Shape, write: JsonWriter) => JsonWriter;
}

function compileWriter(shape: Shape, path: string, options: CompileOptions = {}): JsonWriter {
  const write = writerOf(shape, path, options);
  return options.wrap?.(shape, write) ?? write;
}

function writerOf(shape: Shape, path: string, options: CompileOptions): JsonWriter {
  const fail = (): never => {
    throw new MalformedEvent(path, describe(shape));
  };
  switch (shape.kind) {
    case 'object': {
      const members = compileMembers(shape, path, options);
      return (value) => `{${members(value)}}`;
    }
    case 'array':
      return arrayWriter(shape, path, options);
    case 'string':
      return stringWriter(shape, fail);
    case 'enum':
      return (value) =>
        typeof value === 'string' && shape.values.includes(value) ? `"${value}"` : fail();
    case 'integer':
    case 'number': {
      const { min = -Infinity, max = Infinity } = shape;
      const isKind = shape.kind === 'integer' ? Number.isSafeInteger : Number.isFinite;
      return (value) =>
        typeof value === 'number' && isKind(value) && value >= min && value <= max
          ? String(value)
          : fail();
    }
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : fail());
    case 'nullable': {
      const inner = compileWriter(shape.inner, path, options);
      return (value) => (value === null ? 'null' : inner(value));
    }
    default:
      return (value) => checkedText(shape, value, path);
  }
}

/** For shapes that are rare in events: the full check, also of what will be read. */
function checkedText(shape: Shape, value: unknown, path: string): string {
  requireFit(shape, value, path);
  const text = JSON.stringify(value) ?? '';
  requireFit(shape, text === '' ? undefined : JSON.parse(text), path);
  return text;
}

function requireFit(shape: Shape, value: unknown, path: string): void {
  const first = check(shape, value)[0];
  if (first === undefined) return;
  throw new MalformedEvent([path, ...first.path].join('.'), first.expected);
}

/** Writes the members of an object without its braces: cutting a brace off would copy the text. */
function compileMembers(
  shape: ObjectShape,
  path: string,
  options: CompileOptions = {},
): JsonWriter {
  const within = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { paths, watched = {} } = options;
  const fields = new Map(
    Object.entries(shape.fields).map(([name, field]) => {
      const watch = paths?.has(within(name)) === true ? within(name) : undefined;
      if (watch !== undefined) watched[watch] = undefined;
      const key = `${JSON.stringify(name)}:`;
      const write = compileWriter(field.shape, within(name), options);
      return [name, { key, isRequired: field.required, watch, write }];
    }),
  );
  const required = Object.entries(shape.fields).filter(([, field]) => field.required);
  const checkConditions = shape.conditions.length === 0 ? undefined : conditionCheck(shape, within);
  return (value) => {
    if (!isPlain(value)) {
      throw new MalformedEvent(path, 'a plain object, without a class and without toJSON');
    }
    const texts: { [name: string]: string } | undefined = checkConditions && {};
    let text = '';
    let count = 0;
    for (const name in value) {
      const part = value[name];
      if (part === undefined) continue;
      const field = fields.get(name);
      if (field === undefined) {
        if (shape.closed) throw new MalformedEvent(within(name), 'absent');
        const json = JSON.stringify(part);
        if (json !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${json}`;
        continue;
      }
      if (field.isRequired) count++;
      if (field.watch !== undefined) watched[field.watch] = part;
      const json = field.write(part);
      if (texts !== undefined) texts[name] = json;
      text += text === '' ? field.key + json : `,${field.key}${json}`;
    }
    if (count < required.length) {
      const missing = required.find(([name]) => value[name] === undefined) ?? required[0];
      throw new MalformedEvent(within(missing?.[0] ?? ''), 'present');
    }
    if (texts !== undefined) checkConditions?.(texts);
    return text;
  };
}

/** By the texts that were written. */
function conditionCheck({ conditions }: ObjectShape, within: (name: string) => string) {
  return (texts: { readonly [name: string]: string }) => {
    for (const { field, is, needs } of conditions) {
      if (texts[field] !== JSON.stringify(is)) continue;
      for (const name of needs) {
        if ((texts[name] ?? 'null') !== 'null') continue;
        throw new MalformedEvent(within(name), `present, because \`${field}\` is ${is}`);
      }
    }
  };
}

function arrayWriter(shape: ArrayShape, path: string, options: CompileOptions): JsonWriter {
  const item = compileWriter(shape.items, path, options);
  return (value) => {
    if (!Array.isArray(value) || value.length < shape.itemsMin || value.length > shape.itemsMax) {
      throw new MalformedEvent(path, describe(shape));
    }
    let text = '';
    for (let at = 0; at < value.length; at++) {
      text += at === 0 ? item(value[at]) : `,${item(value[at])}`;
    }
    return `[${text}]`;
  };
}

function stringWriter(
  { lengthMin, lengthMax, format }: StringShape,
  fail: () => never,
): JsonWriter {
  if (format !== undefined) {
    // What fits a format has nothing to escape.
    const { pattern } = FORMATS[format];
    return (value) => (typeof value === 'string' && pattern.test(value) ? `"${value}"` : fail());
  }
  // Names come again and again.
  let last = '';
  let lastText = '""';
  return (value) => {
    if (typeof value !== 'string' || value.length < lengthMin) return fail();
    if (value === last) return lastText;
    if (isLonger(value, lengthMax)) return fail();
    const text = quoted(value);
    if (value.length <= SHORT_LENGTH) {
      last = value;
      lastText = text;
    }
    return text;
  };
}

const SHORT_LENGTH = 64;

/** The JSON of a text; ids and names are short and almost never have anything to escape. */
function quoted(text: string): string {
  if (text.length > SHORT_LENGTH) return JSON.stringify(text);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}
