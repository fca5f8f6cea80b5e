// A LiteLLM proxy: all wires behind one address.
import type { Endpoint } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';
import { anthropicUrl, openAiUrl } from '../base-url.ts';
import { openAiPath } from '../openai/index.ts';
import { compatibleWires } from '../openai_compat/index.ts';
import type { Provider } from '../types.ts';
import { liteLlmHeaders } from './headers.ts';

/** What only Anthropic's wire can say is lost when LiteLLM is asked on another. */
function liteLlmWires(endpoint: Endpoint): readonly WireName[] {
  const { supports } = endpoint;
  const isAnthropic = supports.has('cache_control') || supports.has('extended_thinking');
  const wires = compatibleWires(endpoint);
  return isAnthropic ? ['anthropic_messages', ...wires] : wires;
}

export const litellm: Provider = {
  name: 'litellm',
  wires: liteLlmWires,
  hasCountTokens: true,
  url: (target) => {
    const { endpoint, kind, wire, query } = target;
    if (kind === 'count_tokens') return anthropicUrl(endpoint.url, 'messages/count_tokens', query);
    if (kind === 'answer' && wire === 'anthropic_messages') {
      return anthropicUrl(endpoint.url, 'messages', query);
    }
    return openAiUrl(endpoint.url, openAiPath(target), query);
  },
  headers: liteLlmHeaders,
};
