// Servers that speak like OpenAI: Ollama, vLLM, LM Studio, TGI, SGLang.
import type { Endpoint } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';
import { openAiUrl } from '../base-url.ts';
import { openAiPath } from '../openai/index.ts';
import type { Provider } from '../types.ts';
import { compatibleHeaders } from './headers.ts';

const CHAT: readonly WireName[] = ['openai_chat_completions'];
const BOTH: readonly WireName[] = ['openai_chat_completions', 'openai_responses'];

/** All of them speak the chat wire; the other one only where the endpoint says so. */
export function compatibleWires({ supports }: Endpoint): readonly WireName[] {
  return supports.has('responses') ? BOTH : CHAT;
}

export const openaiCompat: Provider = {
  name: 'openai_compat',
  wires: compatibleWires,
  hasCountTokens: false,
  url: (target) => openAiUrl(target.endpoint.url, openAiPath(target), target.query),
  headers: compatibleHeaders,
};
