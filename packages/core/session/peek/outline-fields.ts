// Which fields of a long message are picked out, and what they mean.
import { decodeUtf8 } from '../../json/utf8.ts';
import type { Draft } from './draft.ts';
import { ID_BYTES_MAX, idOf } from './id.ts';
import { isMethodName } from './method-names.ts';
import { type Place, PROTOCOL } from './protocol-keys.ts';
import { REQUEST_LABELS } from './request-labels.ts';
import type { InvalidReason } from './types.ts';

/** The objects that something is decided on: no key of theirs may stand twice. */
export const DECIDED: ReadonlySet<Place> = new Set(['top', 'params', 'meta', 'result', 'error']);

/** The scalars that are kept. */
export const WANTED: { readonly [P in Place]?: readonly string[] } = {
  top: ['jsonrpc', 'id', 'method'],
  params: ['name', 'protocolVersion', 'requestId'],
  meta: ['io.modelcontextprotocol/protocolVersion'],
  result: ['isError', 'protocolVersion'],
  error: ['code'],
};

type Scalar =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: InvalidReason };

/** An object begins here: is it one whose members matter? */
export function noteObject(draft: Draft, place: Place, key: string): Place | undefined {
  if (place !== 'top') return PROTOCOL[place].inside.get(key);
  switch (key) {
    case 'params':
      draft.params = true;
      return 'params';
    case 'result':
      draft.result = { start: 0, end: 0 };
      return 'result';
    case 'error':
      draft.error = true;
      return 'error';
    case 'id':
      draft.id = null;
      return undefined;
    case 'method':
      draft.method = null;
      return undefined;
    default:
      return undefined;
  }
}

/** The members of a message that every revision of the protocol knows. */
export const TOP_MEMBERS: ReadonlySet<string> = new Set([
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
]);

/** A key that nothing is decided on: that it is there may matter all the same. */
export function noteKey(draft: Draft, place: Place, key: string): void {
  if (place === 'top' && !TOP_MEMBERS.has(key)) draft.extra = true;
  if (place === 'meta' && !REQUEST_LABELS.includes(key)) draft.bound = true;
  if (place !== 'params' || key === 'name' || key === 'arguments') return;
  draft.more = true;
  if (key !== '_meta') draft.bound = true;
}

/** Reads a string or a bare value; without a key it is a key itself. */
export function noteScalar(
  draft: Draft,
  bytes: Uint8Array,
  { place, key }: { readonly place: Place | undefined; readonly key: string | undefined },
): Scalar {
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return { ok: false, reason: 'utf8' };
  let value: unknown;
  try {
    value = JSON.parse(decoded.text);
  } catch {
    return { ok: false, reason: 'json' };
  }
  const text = typeof value === 'string' ? value : '';
  if (key === undefined) return { ok: true, text };
  if (place === 'top') noteTop(draft, key, { bytes, value });
  else noteInner(draft, key, { bytes, value });
  return { ok: true, text };
}

interface Read {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

function noteTop(draft: Draft, key: string, { bytes, value }: Read): void {
  if (key === 'jsonrpc') draft.version = value === '2.0';
  else if (key === 'id')
    draft.id = (bytes.length <= ID_BYTES_MAX && idOf(bytes, 0, bytes.length)) || null;
  else draft.method = typeof value === 'string' && isMethodName(value) ? value : null;
}

function noteInner(draft: Draft, key: string, { bytes, value }: Read): void {
  if (key === 'isError') draft.isError = value === true;
  else if (key === 'code' && Number.isSafeInteger(value)) draft.code = Number(value);
  else if (key === 'requestId') draft.requestId = idOf(bytes, 0, bytes.length);
  if (typeof value !== 'string') return;
  if (key === 'name') draft.name = value;
  else if (key === 'protocolVersion') draft.protocolVersion = value;
  else if (key === 'io.modelcontextprotocol/protocolVersion') draft.metaVersion = value;
}
