// What a transport over HTTP must know of a message that it sends.
import { isUtf8 } from 'node:buffer';
import { batchMessages, eraOf, peek, type Seen } from '@subluminal/core/session';
import type { ReadMessage } from '../types.ts';

export interface MessageFacts {
  readonly kind: Seen['kind'];
  readonly method: string | undefined;
  /** The revision that a request of the modern era names; undefined in the legacy era. */
  readonly version: string | undefined;
  /** `params.name`, where it has been read in these bytes. */
  readonly name?: string | undefined;
  /** The JSON of the ids that wait for an answer. Those of a large message may be known only at its end. */
  ids(): readonly string[];
  /** The JSON of the id of the request that it cancels. */
  readonly cancels: string | undefined;
}

export function seenIn(bytes: Uint8Array): Seen {
  return peek(bytes, { skim: isUtf8(bytes) });
}

export function factsOf(bytes: Uint8Array, read: ReadMessage | undefined): MessageFacts {
  if (read?.kind === 'head') return factsOfHead(read);
  const seen = read?.seen ?? seenIn(bytes);
  switch (seen.kind) {
    case 'request': {
      const ids = [seen.id.json];
      const version = modernVersion(seen.params.metaVersion);
      const name = read === undefined || read.bytes === bytes ? seen.params.name : undefined;
      return {
        kind: 'request',
        method: seen.method,
        version,
        name,
        ids: () => ids,
        cancels: undefined,
      };
    }
    case 'notification': {
      const isCancel = seen.method === 'notifications/cancelled';
      const cancels = isCancel ? seen.params.requestId?.json : undefined;
      const version = modernVersion(seen.params.metaVersion);
      return { kind: 'notification', method: seen.method, version, ids: () => [], cancels };
    }
    case 'batch':
      return { ...NOTHING, kind: 'batch', ids: () => idsIn(bytes, seen, 'requests') };
    default:
      return { ...NOTHING, kind: seen.kind };
  }
}

const NOTHING = { method: undefined, version: undefined, ids: () => [], cancels: undefined };

/** The session reads a large message while it is passed on: its id may stand at the end. */
function factsOfHead({ outline, soFar }: Extract<ReadMessage, { kind: 'head' }>): MessageFacts {
  const { answers, method, batch } = soFar;
  const ids = (): readonly string[] => {
    const { id } = outline.soFar();
    return id === undefined || answers ? [] : [id.json];
  };
  const kind = batch ? 'batch' : answers ? 'response' : 'request';
  const version = modernVersion(soFar.metaVersion);
  return { kind, method, version, name: soFar.name, ids, cancels: undefined };
}

function modernVersion(version: string | undefined): string | undefined {
  return eraOf(version) === 'modern' ? version : undefined;
}

/** The JSON of the ids of the requests in a message, or of its answers. Batches, of 2025-03-26 alone, have several. */
export function idsIn(
  bytes: Uint8Array,
  seen: Seen,
  of: 'requests' | 'answers',
): readonly string[] {
  if (seen.kind !== 'batch') return idOf(seen, of);
  return (batchMessages(bytes) ?? []).flatMap((one) => idOf(one, of));
}

function idOf(seen: Seen, of: 'requests' | 'answers'): readonly string[] {
  if (seen.kind === 'batch' || seen.kind === 'notification') return [];
  const asks = seen.kind === 'invalid' ? seen.asks : seen.kind === 'request';
  return seen.id !== undefined && asks === (of === 'requests') ? [seen.id.json] : [];
}

/**
 * Whether a message begins or ends as the official SDKs write the answer to this request. What else stands in it
 * is the session's to judge, which reads all of it.
 */
export function isPlainAnswer(bytes: Uint8Array, id: string): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (start: string, end: string): boolean =>
    text.length >= start.length + end.length &&
    text.toString('latin1', 0, start.length) === start &&
    text.toString('latin1', text.length - end.length) === end;
  const answered = `"jsonrpc":"2.0","id":${id}`;
  return has(`{${answered},"result":{`, '}}') || has('{"result":{', `},${answered}}`);
}

/** The JSON of the ids that a message of the server answers. */
export function answeredIds(bytes: Uint8Array): readonly string[] {
  return idsIn(bytes, seenIn(bytes), 'answers');
}
