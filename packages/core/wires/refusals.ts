// What a client is told when a turn is refused: an answer in the shape of its own wire that it shows to the person and
// that doesn't make it try again. Which status does that was measured on real clients: Claude Code fails to
// authenticate on 403, sends a 202 again, and after 400 tries again without each of its betas; it stops at 451. Codex
// repeats 402, 403 and 451, and stops at 400.
import type { JsonObject } from '@subluminal/contracts';
import type { AnswerEvent, UpstreamError } from './shared/form.ts';
import { jsonObject } from './shared/read-members.ts';
import type { AnswerOptions, Wire } from './shared/wire.ts';

export interface TurnRefusal {
  readonly kind:
    | 'policy'
    | 'budget'
    | 'rate'
    | 'approval'
    | 'authentication'
    | 'permission'
    | 'invalid'
    | 'too_large'
    | 'unavailable';
  /** For the person who reads it in the client: what, which rule, what to do. */
  readonly message: string;
  readonly ruleIds: readonly string[];
  /** When it is worth trying again. */
  readonly retryAfterMs?: number;
  readonly approvalId?: string;
  readonly headers: { readonly [name: string]: string };
}

export interface RefusalAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

/** A client that accepts this gets the statuses 202, 429 and 451, and the refusal as data. */
export const REFUSAL_MEDIA_TYPE = 'application/vnd.subluminal+json';

const HEADER_LENGTH_MAX = 500;

interface KindAnswer {
  readonly status: number;
  /** On Anthropic's wire. */
  readonly anthropicStatus: number;
  /** For clients that ask for the refusal as data. */
  readonly dataStatus: number;
  /** Anthropic's name of the error, and OpenAI's `code`. */
  readonly type: string;
  readonly code: string;
  readonly isRetryable: boolean;
}

const ANSWERS: { readonly [K in TurnRefusal['kind']]: KindAnswer } = {
  policy: answer(400, {
    type: 'invalid_request_error',
    code: 'blocked_by_policy',
    anthropicStatus: 451,
    dataStatus: 451,
  }),
  approval: answer(400, {
    type: 'invalid_request_error',
    code: 'not_approved',
    anthropicStatus: 451,
    dataStatus: 451,
  }),
  permission: answer(400, {
    type: 'invalid_request_error',
    code: 'permission_denied',
    anthropicStatus: 451,
    dataStatus: 403,
  }),
  invalid: answer(400, { type: 'invalid_request_error', code: 'invalid_request' }),
  authentication: answer(401, { type: 'authentication_error', code: 'invalid_api_key' }),
  too_large: answer(413, { type: 'request_too_large', code: 'request_too_large' }),
  budget: answer(429, { type: 'rate_limit_error', code: 'insufficient_quota' }),
  rate: answer(429, { type: 'rate_limit_error', code: 'rate_limit_exceeded', isRetryable: true }),
  unavailable: answer(503, {
    type: 'overloaded_error',
    // For `server_is_overloaded` Codex has words of its own: the model is at capacity, try another one.
    code: 'service_unavailable',
    isRetryable: true,
  }),
};

function answer(
  status: number,
  {
    anthropicStatus = status,
    dataStatus = status,
    isRetryable = false,
    ...names
  }: {
    readonly type: string;
    readonly code: string;
    readonly anthropicStatus?: number;
    readonly dataStatus?: number;
    readonly isRetryable?: boolean;
  },
): KindAnswer {
  return { status, anthropicStatus, dataStatus, isRetryable, ...names };
}

/** The answer to a request that nothing has been sent for. */
export function refusalAnswer(
  wire: Wire,
  refusal: TurnRefusal,
  { accept, nowMs }: { readonly accept?: string | undefined; readonly nowMs: number },
): RefusalAnswer {
  const { dataStatus, isRetryable } = ANSWERS[refusal.kind];
  const status = statusOn(wire, refusal.kind);
  const headers = {
    'content-type': 'application/json',
    ...(isRetryable ? {} : { 'x-should-retry': 'false' }),
    ...(refusal.retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1_000))) }),
    ...(refusal.approvalId === undefined ? {} : { 'x-aicg-approval-id': refusal.approvalId }),
    ...(refusal.kind === 'budget' && wire.name === 'openai_responses'
      ? { 'x-codex-promo-message': headerText(refusal.message) }
      : {}),
    ...refusal.headers,
  };
  if (!acceptsRefusalData(accept)) {
    return { status, headers, body: refusalBody(wire, refusal, nowMs) };
  }
  // An approval that is asked for has an id and can still be given.
  const isPending = refusal.kind === 'approval' && refusal.approvalId !== undefined;
  return {
    status: isPending ? 202 : dataStatus,
    headers: { ...headers, 'content-type': REFUSAL_MEDIA_TYPE },
    body: refusalData(refusal),
  };
}

function statusOn(wire: Wire, kind: TurnRefusal['kind']): number {
  const { status, anthropicStatus } = ANSWERS[kind];
  return wire.name === 'anthropic_messages' ? anthropicStatus : status;
}

/** Codex has its own words for a limit, and shows this header after them: so the person sees which limit it is. */
function headerText(message: string): string {
  return message
    .replaceAll(/[^ -~]+/g, ' ')
    .slice(0, HEADER_LENGTH_MAX)
    .replace(/\.?\s*$/, '');
}

/** Whether a client asks, by its header `Accept`, for refusals as data. */
export function acceptsRefusalData(accept = ''): boolean {
  return accept
    .split(',')
    .some((range) => range.split(';')[0]?.trim().toLowerCase() === REFUSAL_MEDIA_TYPE);
}

function refusalBody(wire: Wire, refusal: TurnRefusal, nowMs: number): JsonObject {
  if (refusal.kind !== 'budget' || wire.name === 'anthropic_messages') {
    return wire.writeError(refusalError(refusal));
  }
  const { message, retryAfterMs } = refusal;
  if (wire.name === 'openai_chat_completions') {
    const type = 'insufficient_quota';
    return { error: { message, type, param: null, code: type } };
  }
  // The one limit that Codex takes as final; it shows when the limit ends.
  return {
    error: jsonObject({
      message,
      type: 'usage_limit_reached',
      param: null,
      code: 'usage_limit_reached',
      resets_at: retryAfterMs === undefined ? undefined : Math.ceil((nowMs + retryAfterMs) / 1_000),
    }),
  };
}

/** The refusal as an error, for `writeErrorEvent` of a wire. */
export function refusalError({ kind, message }: TurnRefusal): UpstreamError {
  const { status, type, code } = ANSWERS[kind];
  return { status, type, message, code };
}

function refusalData(refusal: TurnRefusal): JsonObject {
  const { kind, message, ruleIds, retryAfterMs, approvalId } = refusal;
  return {
    error: jsonObject({
      kind,
      message,
      policy_reason: ruleIds.length === 0 ? undefined : ruleIds.join(','),
      rule_ids: ruleIds,
      approval_id: approvalId,
      retry_after_ms: retryAfterMs,
    }),
  };
}

/**
 * The refusal in a stream that was opened while a person was asked: a whole message of the assistant. An error in a
 * stream, and a stream that breaks off, would make the client send the turn again.
 */
export function refusalStream(
  wire: Wire,
  refusal: Pick<TurnRefusal, 'message'>,
  { id, model, ...options }: AnswerOptions & { readonly id: string; readonly model: string },
): string {
  const writer = wire.answerWriter(options);
  const usage = {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteHourTokens: 0,
    isEstimated: false,
  };
  const events: readonly AnswerEvent[] = [
    { type: 'start', id, model, usage },
    { type: 'block_start', block: { type: 'text', text: '' } },
    { type: 'text', text: refusal.message },
    { type: 'block_end' },
    { type: 'usage', usage },
    { type: 'stop', stop: 'end_turn' },
    { type: 'end' },
  ];
  return events.map((event) => writer.push(event)).join('');
}
