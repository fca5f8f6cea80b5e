// Writes a value as JSON by its shape, for producers. A writer is compiled from a shape once; it reads
// each field once, checks it and puts it in its place, so that what was checked is what is written.
import { check, describe, isLonger, isPlain } from '../shape/check.ts';
import { FORMATS } from '../shape/formats.ts';
import type { ArrayShape, ObjectShape, Shape, StringShape } from '../shape/shape.ts';

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
    case 'integer': {
      const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = shape;
      return (value) =>
        typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
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
export function compileMembers(
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
