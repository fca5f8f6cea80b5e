// Contract C on the wire: a refused call as a JSON-RPC error.

import { PACK_VERSION } from '../shape/formats.ts';
import {
  boundedHint,
  type Decision,
  type ErrorData,
  type PolicyRef,
  REFUSAL_CODES,
  type Refusal,
} from './decision.ts';

/** `modern` is MCP 2026-07-28 and later, `legacy` everything before. */
export type Era = keyof (typeof REFUSAL_CODES)['BLOCK'];

/** The call that is refused. */
export type RefusedCall = Pick<
  Refusal,
  'run_id' | 'call_id' | 'server_name' | 'tool_name' | 'args_hash'
>;

export interface RefusalInput {
  readonly decision: Decision;
  readonly call: RefusedCall;
  readonly policy: PolicyRef;
  readonly era: Era;
}

export interface RefusalError {
  readonly code: number;
  readonly message: string;
  readonly data: ErrorData;
}

const MESSAGE_LENGTH_MAX = 8_192;
const SUGGESTION_LENGTH_MAX = 1_024;

/** The error object that answers a refused call. Throws for ALLOW: there is nothing to refuse. */
export function refusal(input: RefusalInput): RefusalError {
  const { decision, call, policy, era } = input;
  const { action, rule_id, reason_code, summary } = decision;
  if (action === 'ALLOW') throw new Error('SUB_INTERNAL: an allowed call has no refusal.');
  const { run_id, call_id, server_name, tool_name, args_hash } = call;
  const subluminal: Refusal = {
    v: PACK_VERSION,
    action,
    rule_id,
    reason_code,
    summary,
    run_id,
    call_id,
    server_name,
    tool_name,
    args_hash,
    policy,
    ...extras(decision),
  };
  return {
    code: REFUSAL_CODES[action][era],
    message: messageOf(decision, subluminal.retry_advice),
    data: { subluminal },
  };
}

/** What the action needs besides; a decision without it is a bug of the policy engine. */
function extras(decision: Decision): Pick<Refusal, 'backoff_ms' | 'retry_advice' | 'hint'> {
  const { action, backoff_ms, hint, terminate } = decision;
  if (action === 'THROTTLE' && backoff_ms !== undefined) {
    return { backoff_ms, retry_advice: `Wait ${backoff_ms} ms, then send the same call again.` };
  }
  if (action === 'REJECT_WITH_HINT' && hint !== undefined) return { hint: boundedHint(hint) };
  if (action === 'BLOCK' || (action === 'TERMINATE_RUN' && terminate !== undefined)) return {};
  throw new Error(`SUB_INTERNAL: a decision to ${action} lacks what it needs.`);
}

/** Models often see only the message, so it carries everything that should change their course. */
function messageOf(decision: Decision, retryAdvice: string | undefined): string {
  const parts = [decision.summary];
  if (decision.action === 'TERMINATE_RUN') {
    parts.push(`The run is over: ${decision.terminate?.terminate_message ?? ''}`);
  }
  if (decision.action === 'REJECT_WITH_HINT' && decision.hint !== undefined) {
    const { hint_text, suggested_args, retry_advice } = decision.hint;
    // A rule without a text of its own has its summary as hint, which stands above already.
    if (hint_text !== decision.summary) parts.push(`Hint: ${hint_text}`);
    const suggestion = suggested_args === null ? '' : JSON.stringify(suggested_args);
    if (suggestion !== '' && suggestion.length <= SUGGESTION_LENGTH_MAX) {
      parts.push(`Suggested arguments: ${suggestion}`);
    }
    if (retry_advice !== null) parts.push(retry_advice);
  }
  if (retryAdvice !== undefined) parts.push(retryAdvice);
  return cut(parts.join('\n'), MESSAGE_LENGTH_MAX);
}

/** Cuts a text to a length, never through the middle of a character. */
function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const head = text.slice(0, lengthMax - 1);
  const last = head.charCodeAt(head.length - 1);
  return `${last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head}…`;
}
