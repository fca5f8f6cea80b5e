// OpenAI's own API.
import type { WireName } from '@subluminal/core/wires';
import { openAiUrl } from '../base-url.ts';
import type { Provider, UpstreamTarget } from '../types.ts';
import { openAiHeaders } from './headers.ts';

const WIRES: readonly WireName[] = ['openai_responses', 'openai_chat_completions'];

/** The paths of OpenAI's wires; it counts no tokens. */
export function openAiPath({ kind, wire }: UpstreamTarget): string {
  if (kind === 'models') return 'models';
  return wire === 'openai_responses' ? 'responses' : 'chat/completions';
}

export const openai: Provider = {
  name: 'openai',
  wires: () => WIRES,
  hasCountTokens: false,
  url: (target) => openAiUrl(target.endpoint.url, openAiPath(target), target.query),
  headers: openAiHeaders,
};
