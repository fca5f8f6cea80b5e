// The head and the body of a request, within bounds.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  API_ENDPOINTS,
  type ApiInput,
  type ApiQuery,
  type ObjectShape,
  type Shape,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { IncomingLine } from '../../stores/ledger/index.ts';
import {
  badRequest,
  bodyTooLarge,
  type HttpFailure,
  httpFailure,
  isHttpFailure,
} from './http-failure.ts';

const SHOWN_LENGTH_MAX = 80;
const CHARSET = / *; *charset=utf-8$/i;

export interface ExpectedBody {
  readonly bytesMax: number;
  /** A type that no form of a web page can send. */
  readonly type: string;
}

/** What is wrong with the body that the head announces. */
export function bodyFailure(
  headers: IncomingHttpHeaders,
  expected: ExpectedBody | undefined,
): HttpFailure | undefined {
  const length = Number(headers['content-length'] ?? 0);
  const hasBody = headers['transfer-encoding'] !== undefined || length !== 0;
  if (expected === undefined) {
    return hasBody ? badRequest('This address takes no body.') : undefined;
  }
  // What is not there needs no type.
  if (!hasBody && headers['content-type'] === undefined) return undefined;
  const { bytesMax, type } = expected;
  const given = (headers['content-type'] ?? '').replace(CHARSET, '').toLowerCase();
  if (headers['content-encoding'] !== undefined || given !== type) {
    const detail = `The body must be ${type}, without an encoding.`;
    return httpFailure(415, 'SUB_API_REQUEST', detail);
  }
  return length <= bytesMax ? undefined : bodyTooLarge(bytesMax);
}

export function pathFailure(path: string): HttpFailure | undefined {
  return path.startsWith('/') && decoded(path) !== undefined
    ? undefined
    : badRequest('The path is not well-formed.');
}

export async function readBytes(
  request: IncomingMessage,
  bytesMax: number,
): Promise<Buffer | HttpFailure> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The connection is still needed for the answer.
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of parts) {
      bytes += chunk.length;
      if (bytes > bytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // The sender is gone, and will hardly read this.
    return badRequest('The body is not complete.');
  }
  if (bytes <= bytesMax) return Buffer.concat(chunks);
  // The rest is read and forgotten, within the time that a request has: an answer that comes while
  // the other side still writes is lost when the connection ends with it.
  request.resume();
  return bodyTooLarge(bytesMax);
}

/** The one JSON object of a body; nothing stands for an empty one. */
export async function readInput<T>(
  request: IncomingMessage,
  { bytesMax, parse }: ApiInput<T>,
): Promise<T | HttpFailure> {
  const bytes = await readBytes(request, bytesMax);
  if (isHttpFailure(bytes)) return bytes;
  let value: unknown;
  try {
    value = bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'));
  } catch {
    return badRequest('The body is not JSON.');
  }
  const parsed = parse(value);
  if (parsed.ok) return parsed.value;
  const { path = [], expected = '', got = '' } = parsed.mismatches[0] ?? {};
  const name = visible(path.join('.') || 'body', SHOWN_LENGTH_MAX);
  return badRequest(`\`${name}\` must be ${expected}, not ${visible(got, SHOWN_LENGTH_MAX)}.`);
}

// Events that come in by HTTP: the lines of a body, numbered.

const LIMIT = API_ENDPOINTS.ingest.body;

/** All lines of a body. A line that is no event counts, too: the ledger sets it aside. */
export async function readLines(
  request: IncomingMessage,
  { producer, seq }: { readonly producer: string; readonly seq: number },
): Promise<readonly IncomingLine[] | HttpFailure> {
  const body = await readBytes(request, LIMIT.bytesMax);
  if (isHttpFailure(body)) return body;
  const texts = body.toString('utf8').split('\n', LIMIT.linesMax + 2);
  // The end of the last line, not the beginning of another.
  if (texts.at(-1) === '') texts.pop();
  if (texts.length > LIMIT.linesMax) {
    return httpFailure(413, 'SUB_API_LIMIT', `The body has more than ${LIMIT.linesMax} lines.`);
  }
  return texts.map((line, at) => ({ producer, seq: seq + at, line }));
}

// Query parameters, read strictly: a misspelt filter must not show everything.

const PARAMETERS_MAX = 128;
const DIGITS = /^\d{1,16}$/;

/** Reads the query of a request target as the endpoint declares it. */
export function readParameters<T>({ shape, parse }: ApiQuery<T>, target: string): T | HttpFailure {
  const given = pairsOf(target);
  if (typeof given === 'string') return badRequest(given);
  const values: { [name: string]: unknown } = {};
  for (const [name, text] of given) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field === undefined) return badRequest(unknownName(name, shape));
    if (field.shape.kind === 'array') {
      const others: readonly unknown[] = Array.isArray(values[name]) ? values[name] : [];
      values[name] = [...others, valueOf(field.shape.items, text)];
      continue;
    }
    if (Object.hasOwn(values, name)) return badRequest(`The parameter \`${name}\` is given twice.`);
    values[name] = valueOf(field.shape, text);
  }
  const parsed = parse(values);
  if (parsed.ok) return parsed.value;
  const { path = [], expected = '', got = '' } = parsed.mismatches[0] ?? {};
  return badRequest(`The parameter \`${path.join('.')}\` must be ${expected}, not ${shown(got)}.`);
}

/** The decoded pairs, or what is wrong with them. */
function pairsOf(target: string): readonly (readonly [string, string])[] | string {
  const at = target.indexOf('?');
  const query = at < 0 ? '' : target.slice(at + 1);
  const parts = query.split('&', PARAMETERS_MAX + 1).filter((part) => part !== '');
  if (parts.length > PARAMETERS_MAX) return `There are more than ${PARAMETERS_MAX} parameters.`;
  const pairs: (readonly [string, string])[] = [];
  for (const part of parts) {
    const sign = part.indexOf('=');
    const name = decoded(sign < 0 ? part : part.slice(0, sign));
    if (name === undefined) return 'The name of a parameter is not well-formed.';
    const value = sign < 0 ? '' : decoded(part.slice(sign + 1));
    if (value === undefined) return `The parameter \`${shown(name)}\` is not well-formed.`;
    pairs.push([name, value]);
  }
  return pairs;
}

/** Undefined for a text that is not UTF-8, and for NUL, which no text of the ledger holds. */
function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '));
    return plain.includes('\0') ? undefined : plain;
  } catch {
    return undefined;
  }
}

function valueOf(shape: Shape, text: string): string | number {
  return shape.kind === 'integer' && DIGITS.test(text) ? Number(text) : text;
}

function unknownName(name: string, shape: ObjectShape): string {
  const known = Object.keys(shape.fields);
  const choices = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  return `The parameter \`${shown(name)}\` is not known; ${choices}.`;
}

function shown(text: string): string {
  return visible(text, SHOWN_LENGTH_MAX);
}
