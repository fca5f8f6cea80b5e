// What is gathered while a message is read, and what it comes to in the end.
import type { InvalidReason, MessageId, Range, Seen, SeenParams } from './types.ts';

export interface Draft {
  version: boolean;
  /** `null` when it is there but cannot be used. */
  id: MessageId | null | undefined;
  method: string | null | undefined;
  params: boolean;
  result: Range | undefined;
  error: boolean;
  name: string | undefined;
  args: Range | undefined;
  argsAreCanonical: boolean;
  progressToken: Range | undefined;
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
  message: Range | undefined;
}

export interface Fault {
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

export function emptyDraft(): Draft {
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
export function settle(draft: Draft, fault: Fault | undefined): Seen {
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

function shapeFault(draft: Draft): InvalidReason | undefined {
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

function invalid(draft: Draft, { reason, offset }: Fault): Seen {
  const id = draft.id ?? undefined;
  const asks = draft.result === undefined && !draft.error;
  return { kind: 'invalid', reason, offset, id, asks, method: draft.method ?? undefined };
}

function paramsOf(draft: Draft): SeenParams {
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
