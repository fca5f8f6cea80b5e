// OpenRouter: one address for the models of many vendors.
import { openAiUrl } from '../base-url.ts';
import { openAiPath } from '../openai/index.ts';
import { compatibleWires } from '../openai_compat/index.ts';
import type { Provider } from '../types.ts';
import { openRouterHeaders } from './headers.ts';

export const openrouter: Provider = {
  name: 'openrouter',
  wires: compatibleWires,
  hasCountTokens: false,
  url: (target) => openAiUrl(target.endpoint.url, openAiPath(target), target.query),
  headers: openRouterHeaders,
};
