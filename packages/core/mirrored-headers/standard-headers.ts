// The headers that every request of MCP 2026-07-28 carries over HTTP: they mirror its version, its method
// and its name, so that intermediaries need not read the body. Policy reads the body, and the two must agree.
import { memberRange, membersAt } from '../json/member-ranges.ts';
import { decodeText, stringText } from '../json/text.ts';
import { OPEN_BRACE, QUOTE } from '../json/units.ts';
import { visible } from '../text/visible.ts';
import { decodeHeaderValue, encodeHeaderValue, isPlainValue, trimmed } from './header-values.ts';

/** One header. */
export type MirroredHeader = readonly [name: string, value: string];

/** The headers of a request by their names in lower case, each with all of its values: `headersDistinct` of Node. */
export interface RequestHeaders {
  readonly [name: string]: readonly string[] | undefined;
}

/** The parts of a request that its headers mirror. */
export interface MirroredRequest {
  readonly method: string;
  /** See `mirroredName`. */
  readonly name: string | undefined;
  /** `_meta["io.modelcontextprotocol/protocolVersion"]`. */
  readonly version: string | undefined;
}

/** JSON-RPC error code: headers and body do not match, or a header is missing or malformed. */
export const HEADER_MISMATCH = -32020;

const VERSION = 'MCP-Protocol-Version';
const METHOD = 'Mcp-Method';
const NAME = 'Mcp-Name';

/** The member of `params` that `Mcp-Name` mirrors. Those of tasks belong to the extension for tasks. */
const NAME_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * The text that `Mcp-Name` mirrors in a request that has been found valid; undefined when there is none. `known` is
 * `params.name` where it has been read.
 */
export function mirroredName(
  bytes: Uint8Array,
  method: string,
  known?: string,
): string | undefined {
  const member = NAME_MEMBERS.get(method);
  if (member === 'name' && known !== undefined) return known;
  const params = member === undefined ? undefined : memberRange(bytes, 'params');
  if (params === undefined || bytes[params.start] !== OPEN_BRACE) return undefined;
  const value = membersAt(bytes, params.start).findLast(({ key }) => key === member)?.value;
  if (value === undefined || bytes[value.start] !== QUOTE) return undefined;
  return stringText(decodeText(bytes, value.start, value.end));
}

/** `Mcp-Method` and `Mcp-Name` of a request; undefined when its method can't stand in a header. */
export function standardHeaders(
  method: string,
  name: string | undefined,
): readonly MirroredHeader[] | undefined {
  if (method === '' || !isPlainValue(method)) return undefined;
  const headers: MirroredHeader[] = [[METHOD, method]];
  if (name !== undefined && NAME_MEMBERS.has(method)) headers.push([NAME, encodeHeaderValue(name)]);
  return headers;
}

/** Why the standard headers of a request do not match its body, for an error `HEADER_MISMATCH`. */
export function checkStandardHeaders(
  headers: RequestHeaders,
  { method, name, version }: MirroredRequest,
): string | undefined {
  return (
    checkHeader(VERSION, headerText(headers, VERSION), version) ??
    checkHeader(METHOD, headerText(headers, METHOD), method) ??
    (NAME_MEMBERS.has(method) ? checkHeader(NAME, headerValue(headers, NAME), name) : undefined)
  );
}

function checkHeader(
  header: string,
  { text, fault }: HeaderText,
  body: string | undefined,
): string | undefined {
  if (fault !== undefined) return fault;
  if (text === body) return undefined;
  if (text === undefined) return `Header mismatch: the header ${header} is missing.`;
  if (body === undefined)
    return `Header mismatch: ${header} is sent, but the body has no such value.`;
  return mismatch(header, text, body);
}

/** The words for a value that differs; both come from the caller, and go back to it. */
export function mismatch(header: string, value: string, body: string): string {
  return `Header mismatch: ${header} header value '${visible(value, 100)}' does not match body value '${visible(body, 100)}'`;
}

export interface HeaderText {
  /** Undefined when the header is not there. */
  readonly text: string | undefined;
  readonly fault: string | undefined;
}

const ABSENT: HeaderText = { text: undefined, fault: undefined };

/** A header that may use Base64. */
export function headerValue(headers: RequestHeaders, name: string): HeaderText {
  const raw = headerText(headers, name);
  if (raw.text === undefined) return raw;
  const text = decodeHeaderValue(raw.text);
  return text === undefined ? malformed(name) : { text, fault: undefined };
}

/** A header that stands there once; two of them are two answers to one question. */
function headerText(headers: RequestHeaders, name: string): HeaderText {
  const key = name.toLowerCase();
  const values = Object.hasOwn(headers, key) ? headers[key] : undefined;
  const [first, ...others] = values ?? [];
  if (first === undefined) return ABSENT;
  if (others.length > 0) return malformed(name, 'is sent more than once');
  return { text: trimmed(first), fault: undefined };
}

function malformed(name: string, why = 'is not well-formed'): HeaderText {
  return { text: undefined, fault: `Header mismatch: the header ${name} ${why}.` };
}
