// The paths by which clients reach a model.
import type { IncomingMessage } from 'node:http';
import type { WireName } from '@subluminal/core/wires';

export type AskedTurn =
  | { readonly kind: 'answer' | 'count_tokens'; readonly wire: WireName; readonly path: string }
  /** What the local proxy sends. */
  | { readonly kind: 'forward' }
  /** The list, or one model of it. */
  | { readonly kind: 'models'; readonly wire: WireName; readonly id?: string };

type AskedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

const FORWARD = '/v1/agent/forward';
/** With the prefix of their wire or without it: SDKs put their own paths behind a base address. */
const TURNS: ReadonlyMap<string, readonly [kind: 'answer' | 'count_tokens', wire: WireName]> =
  new Map([
    ['/v1/messages', ['answer', 'anthropic_messages']],
    ['/v1/messages/count_tokens', ['count_tokens', 'anthropic_messages']],
    ['/v1/chat/completions', ['answer', 'openai_chat_completions']],
    ['/v1/responses', ['answer', 'openai_responses']],
  ]);
const PREFIX = /^\/(anthropic|openai)(?=\/)/;
const MODELS = /^\/v1\/models(?:\/(.+))?$/;

export function askedTurn({ method, url = '', headers }: AskedRequest): AskedTurn | undefined {
  const [whole = ''] = url.split('?', 1);
  const prefix = PREFIX.exec(whole)?.[1];
  const path = whole.replace(PREFIX, '');
  if (method === 'POST' && whole === FORWARD) return { kind: 'forward' };
  const models = method === 'GET' ? MODELS.exec(path) : null;
  if (models !== null) {
    // Both vendors have this path: without a prefix, a header that only Anthropic's clients send tells them apart.
    const isAnthropic =
      prefix === undefined ? 'anthropic-version' in headers : prefix === 'anthropic';
    const wire = isAnthropic ? 'anthropic_messages' : 'openai_chat_completions';
    const [, id] = models;
    return { kind: 'models', wire, ...(id !== undefined && { id: decoded(id) }) };
  }
  const turn = method === 'POST' ? TURNS.get(path) : undefined;
  if (turn === undefined) return undefined;
  const [kind, wire] = turn;
  const isForeign =
    prefix !== undefined && prefix !== (wire.startsWith('anthropic') ? 'anthropic' : 'openai');
  return isForeign ? undefined : { kind, wire, path: url.replace(PREFIX, '') };
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
