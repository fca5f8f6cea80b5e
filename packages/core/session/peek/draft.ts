// What is gathered while a message is read, and what it comes to in the end.

import { decodeText, stringText } from '../../json/text.ts';
import { DOT, LOWER_E, LOWER_N, MINUS, NINE, QUOTE, UPPER_E, ZERO } from '../../json/units.ts';
import type { ByteRange, InvalidReason, MessageId, Seen, SeenParams } from './types.ts';

export interface MessageDraft {
  version: boolean;
  /** `null` when it is there but cannot be used. */
  id: MessageId | null | undefined;
  method: string | null | undefined;
  params: boolean;
  result: ByteRange | undefined;
  error: boolean;
  name: string | undefined;
  args: ByteRange | undefined;
  argsAreCanonical: boolean;
  progressToken: ByteRange | undefined;
  metaVersion: string | undefined;
  protocolVersion: string | undefined;
  requestId: MessageId | undefined;
  more: boolean;
  bound: boolean;
  extra: boolean;
  isError: boolean;
  needsInput: boolean;
  forged: boolean;
  code: number | undefined;
  message: ByteRange | undefined;
}

export interface MessageFault {
  readonly reason: InvalidReason;
  readonly offset: number;
}

const NO_PARAMS: SeenParams = {
  name: undefined,
  args: undefined,
  argsAreCanonical: false,
  progressToken: undefined,
  metaVersion: undefined,
  protocolVersion: undefined,
  requestId: undefined,
  more: false,
  bound: false,
};

export function emptyDraft(): MessageDraft {
  return {
    version: false,
    id: undefined,
    method: undefined,
    params: false,
    result: undefined,
    error: false,
    ...NO_PARAMS,
    extra: false,
    isError: false,
    needsInput: false,
    forged: false,
    code: undefined,
    message: undefined,
  };
}

/** The message, or why it is none. */
export function settle(draft: MessageDraft, fault: MessageFault | undefined): Seen {
  const reason = fault?.reason ?? shapeFault(draft);
  if (reason !== undefined) return invalid(draft, { reason, offset: fault?.offset ?? 0 });
  const { id, method, extra } = draft;
  if (typeof method === 'string') {
    const params = draft.params ? paramsOf(draft) : NO_PARAMS;
    if (id === undefined || id === null) return { kind: 'notification', method, params, extra };
    return { kind: 'request', id, method, params, extra };
  }
  const { code, message, result, protocolVersion, needsInput, forged } = draft;
  const failed = draft.error ? 'rpc' : draft.isError ? 'tool' : 'no';
  const answer = { code, message, result, protocolVersion, needsInput, forged, extra };
  return { kind: 'response', id: id ?? undefined, failed, ...answer };
}

function shapeFault(draft: MessageDraft): InvalidReason | undefined {
  const { id, method, result, error, version } = draft;
  if (!version) return 'version';
  if (id === null) return 'id';
  if (method === null) return 'method';
  const answers = result !== undefined || error;
  if (method !== undefined) return answers ? 'conflict' : undefined;
  if (result !== undefined && error) return 'conflict';
  if (!answers) return 'shape';
  return id === undefined && !error ? 'shape' : undefined;
}

function invalid(draft: MessageDraft, { reason, offset }: MessageFault): Seen {
  const id = draft.id ?? undefined;
  const asks = draft.result === undefined && !draft.error;
  return { kind: 'invalid', reason, offset, id, asks, method: draft.method ?? undefined };
}

function paramsOf(draft: MessageDraft): SeenParams {
  return {
    name: draft.name,
    args: draft.args,
    argsAreCanonical: draft.argsAreCanonical,
    progressToken: draft.progressToken,
    metaVersion: draft.metaVersion,
    protocolVersion: draft.protocolVersion,
    requestId: draft.requestId,
    more: draft.more,
    bound: draft.bound,
  };
}

// Ids of requests: strings, numbers and null; everything else is none.

/** A message with a longer id is refused. */
export const ID_BYTES_MAX = 1_024;
const NULL_ID: MessageId = { type: 'null', json: 'null' };

/** The id that a valid JSON value is, or undefined. Two spellings of one id give the same. */
export function idOf(bytes: Uint8Array, start: number, end: number): MessageId | undefined {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) {
    const written = decodeText(bytes, start, end);
    const json = written.includes('\\') ? JSON.stringify(stringText(written)) : written;
    return { type: 'string', json };
  }
  if (first === LOWER_N) return NULL_ID;
  if (first !== MINUS && (first < ZERO || first > NINE)) return undefined;
  const json = decodeText(bytes, start, end);
  if (!isWhole(bytes, start, end)) return fractionId(Number(json));
  return { type: 'number', json: json === '-0' ? '0' : json };
}

/** Whether a number is written in digits alone: then it is kept as it is, however large. */
function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === DOT || byte === LOWER_E || byte === UPPER_E) return false;
  }
  return true;
}

/** 1.0 and 1e2 come back as 1 and 100. */
function fractionId(value: number): MessageId | undefined {
  return Number.isFinite(value) ? { type: 'number', json: String(value) } : undefined;
}
