// The paths by which clients reach a model.
import type { WireName } from '@subluminal/core/wires';

export type AskedTurn =
  | { readonly kind: 'answer' | 'count_tokens'; readonly wire: WireName; readonly path: string }
  /** What the local proxy sends. */
  | { readonly kind: 'forward' }
  | { readonly kind: 'models'; readonly wire: WireName };

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
const MODELS = '/v1/models';

export function askedTurn(method: string, url: string): AskedTurn | undefined {
  const [whole = ''] = url.split('?', 1);
  const prefix = PREFIX.exec(whole)?.[1];
  const path = whole.replace(PREFIX, '');
  if (method === 'POST' && whole === FORWARD) return { kind: 'forward' };
  if (method === 'GET' && path === MODELS) {
    return {
      kind: 'models',
      wire: prefix === 'anthropic' ? 'anthropic_messages' : 'openai_chat_completions',
    };
  }
  const turn = method === 'POST' ? TURNS.get(path) : undefined;
  if (turn === undefined) return undefined;
  const [kind, wire] = turn;
  const isForeign =
    prefix !== undefined && prefix !== (wire.startsWith('anthropic') ? 'anthropic' : 'openai');
  return isForeign ? undefined : { kind, wire, path: url.replace(PREFIX, '') };
}
