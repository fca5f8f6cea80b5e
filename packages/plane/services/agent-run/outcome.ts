// What became of a call, read from the answer that the agent got.
import { isJsonObject, isObject } from '@subluminal/contracts';
import type { RpcReply } from './rpc-peer.ts';
import type { AgentOutcome } from './types.ts';

/** What is known of a call beside its answer. */
export interface CallFacts {
  readonly callId: string;
  readonly wasForwarded: boolean;
  /** The server has ended. */
  readonly isGone: boolean;
}

const ITEMS_MAX = 1_000;

export function outcomeOf(reply: RpcReply, facts: CallFacts): AgentOutcome {
  const { callId, wasForwarded, isGone } = facts;
  if (reply.kind === 'none') return { kind: 'failed', message: reply.why, wasForwarded };
  const marked = reply.kind === 'error' ? reply.data : reply.result['_meta'];
  const refusal = isObject(marked) ? marked['subluminal'] : undefined;
  const isRefusal = isObject(refusal) && typeof refusal['action'] === 'string';
  // Once the server has it, only its answer can be refused: the tool has run.
  if (isRefusal && !wasForwarded) return refusedBy(refusal, callId);
  if (reply.kind === 'error') {
    const { message } = reply;
    if (isGone || !wasForwarded) return { kind: 'failed', message, wasForwarded };
    return { kind: 'answered', callId, text: message, isError: true };
  }
  const { content, structuredContent, isError } = reply.result;
  const text = textOf(content);
  return {
    kind: 'answered',
    callId,
    text,
    isError: isError === true,
    ...(isJsonObject(structuredContent) && { structured: structuredContent }),
  };
}

function refusedBy(
  refusal: { readonly [key: string]: unknown },
  callId: string,
): Extract<AgentOutcome, { kind: 'refused' }> {
  const { action, reason_code, rule_id, summary, hint, retry_advice } = refusal;
  const hinted = isObject(hint) ? [hint['hint_text'], hint['retry_advice']] : [retry_advice];
  const words = hinted.filter((one) => typeof one === 'string' && one !== summary).join(' ');
  return {
    kind: 'refused',
    callId,
    action: texted(action),
    reasonCode: texted(reason_code),
    ruleId: typeof rule_id === 'string' ? rule_id : null,
    summary: texted(summary),
    ...(words !== '' && { hint: words }),
  };
}

function texted(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a result; what is no text is named. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.slice(0, ITEMS_MAX).map(itemText).join('\n');
}

function itemText(item: unknown): string {
  if (!isObject(item)) return '';
  const { type, text, mimeType, uri, resource } = item;
  if (type === 'text') return texted(text);
  if (isObject(resource))
    return texted(resource['text']) || `[resource ${texted(resource['uri'])}]`;
  return `[${[type, mimeType, uri].filter((one) => typeof one === 'string').join(' ')}]`;
}
