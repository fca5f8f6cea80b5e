// The headers `Mcp-Param-*` of tool calls: learned from the tools that a server lists, made for a call from
// its arguments, and compared with the arguments of a call that comes in.
import { isObject } from '@subluminal/contracts';
import type { ByteRange } from '../json/byte-scanner.ts';
import { memberRange, membersAt } from '../json/member-ranges.ts';
import { rewritten, spliced, utf8Of } from '../json/patch-text.ts';
import { type Decode, decodeText, stringText } from '../json/text.ts';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/units.ts';
import { type HeaderAnnotation, readAnnotations } from './annotations.ts';
import { encodeHeaderValue } from './header-values.ts';
import {
  type HeaderText,
  headerValue,
  type MirroredHeader,
  mismatch,
  type RequestHeaders,
} from './standard-headers.ts';

/** The arguments of a call: where they stand in its message. */
export interface CallArguments {
  readonly tool: string;
  readonly bytes: Uint8Array;
  readonly args: ByteRange | undefined;
}

/** A tool that must not be shown, because its annotations break the rules. */
export interface InvalidTool {
  readonly name: string;
  readonly reason: string;
}

export interface LearnedList {
  /** The message without the invalid tools; the same bytes when there are none. */
  readonly bytes: Uint8Array;
  readonly invalid: readonly InvalidTool[];
}

const PARAM_HEADERS = 'mcp-param-';
const TOO_LARGE =
  'Header mismatch: a call of this size has no headers Mcp-Param-*, because they can not be checked, so a tool with x-mcp-header can not be called with it.';
const TOOLS_MAX = 10_000;
const NAME_LENGTH_MAX = 1_024;

export class ToolHeaders {
  /** Only tools that have annotations. */
  private readonly tools = new Map<string, readonly HeaderAnnotation[]>();

  /** Learns the tools of an answer to `tools/list`, of one page. */
  learn(answer: Uint8Array, decode: Decode = decodeText): LearnedList {
    const range = memberRange(answer, 'result');
    if (range === undefined) return { bytes: answer, invalid: [] };
    const text = decode(answer, range.start, range.end);
    const result: unknown = JSON.parse(text);
    const listed: unknown = isObject(result) ? result['tools'] : undefined;
    if (!isObject(result) || !Array.isArray(listed)) return { bytes: answer, invalid: [] };
    const invalid: InvalidTool[] = [];
    const tools = listed.filter((tool) => {
      const fault = this.learnTool(tool);
      if (fault !== undefined) invalid.push(fault);
      return fault === undefined;
    });
    if (invalid.length === 0) return { bytes: answer, invalid };
    const json = rewritten(text, { ...result, tools });
    if (json === undefined) throw new Error('a list that was read can be written');
    return { bytes: spliced(answer, range, utf8Of(json)), invalid };
  }

  private learnTool(tool: unknown): InvalidTool | undefined {
    const name: unknown = isObject(tool) ? tool['name'] : undefined;
    if (!isObject(tool) || typeof name !== 'string' || name.length > NAME_LENGTH_MAX)
      return undefined;
    const read = readAnnotations(tool['inputSchema']);
    this.tools.delete(name);
    if (!read.ok) return { name, reason: read.reason };
    if (read.annotations.length === 0) return undefined;
    // When there is no room the oldest goes: the server refuses its calls, and the client lists again.
    const [oldest] = this.tools.size >= TOOLS_MAX ? this.tools.keys() : [];
    if (oldest !== undefined) this.tools.delete(oldest);
    this.tools.set(name, read.annotations);
    return undefined;
  }

  /** The headers of a call. A value that is null or absent has none. */
  headersFor(call: CallArguments): readonly MirroredHeader[] {
    const annotations = this.tools.get(call.tool);
    if (annotations === undefined) return [];
    const headers: MirroredHeader[] = [];
    for (const { header, path } of annotations) {
      const text = mirroredText(valueAt(call, path));
      if (text !== undefined) headers.push([header, encodeHeaderValue(text)]);
    }
    return headers;
  }

  /** Whether parameters of a tool are mirrored. */
  mirrors(tool: string): boolean {
    return this.tools.has(tool);
  }

  /**
   * Why a call may not pass that is too large to be read before its headers are sent. Nobody could compare the two,
   * so a call with such headers, or one that needs them, is refused.
   */
  checkLarge(tool: string | undefined, headers: RequestHeaders = {}): string | undefined {
    const isMirrored = tool !== undefined && this.mirrors(tool);
    const isClaimed = Object.keys(headers).some((name) => name.startsWith(PARAM_HEADERS));
    return isMirrored || isClaimed ? TOO_LARGE : undefined;
  }

  /** Why the headers of a call do not match its arguments. Headers that no annotation names are ignored. */
  check(call: CallArguments, headers: RequestHeaders): string | undefined {
    const annotations = this.tools.get(call.tool);
    if (annotations === undefined) return undefined;
    for (const { header, path } of annotations) {
      const fault = checkParam(header, headerValue(headers, header), valueAt(call, path));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}

function checkParam(
  header: string,
  { text, fault }: HeaderText,
  value: string | undefined,
): string | undefined {
  if (fault !== undefined) return fault;
  const body = mirroredText(value);
  if (text === undefined) {
    if (body === undefined) return undefined;
    return `Header mismatch: the header ${header} is missing; list the tools again, and mirror this parameter.`;
  }
  // A value that can't be mirrored has no header; one with a header would mean two things to two readers.
  if (value === undefined || value === 'null') {
    return `Header mismatch: ${header} is sent, but the arguments have no such value.`;
  }
  return text === body || isSameNumber(text, value)
    ? undefined
    : mismatch(header, text, body ?? value);
}

/** The JSON of the value at a path in the arguments; undefined when there is none. */
function valueAt({ bytes, args }: CallArguments, path: readonly string[]): string | undefined {
  let range = args;
  for (const step of path) {
    if (range === undefined || bytes[range.start] !== OPEN_BRACE) return undefined;
    range = membersAt(bytes, range.start).findLast(({ key }) => key === step)?.value;
  }
  return range && decodeText(bytes, range.start, range.end);
}

/** The text of a value for its header; undefined when it is not mirrored: null, a list, an object, too large a number. */
function mirroredText(json: string | undefined): string | undefined {
  const first = json?.charCodeAt(0);
  if (json === undefined || json === 'null') return undefined;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return undefined;
  if (first === QUOTE) return stringText(json);
  if (json === 'true' || json === 'false') return json;
  const number = Number(json);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? String(number) : undefined;
}

const WHOLE = /^-?\d{1,32}(?:\.0{1,32})?$/;

/** `42.0` and `42` are the same number. Beyond the safe range two numbers may look like one. */
function isSameNumber(text: string, json: string): boolean {
  const number = Number(json);
  if (json.startsWith('"') || !WHOLE.test(text)) return false;
  return Number.isSafeInteger(number) ? Number(text) === number : text === json;
}
