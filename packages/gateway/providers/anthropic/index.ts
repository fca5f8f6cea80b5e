// Anthropic's own API, and what speaks like it.
import { anthropicUrl } from '../base-url.ts';
import type { Provider } from '../types.ts';
import { anthropicHeaders } from './headers.ts';

const PATHS = {
  answer: 'messages',
  count_tokens: 'messages/count_tokens',
  models: 'models',
} as const;

export const anthropic: Provider = {
  name: 'anthropic',
  wires: () => ['anthropic_messages'],
  hasCountTokens: true,
  url: ({ endpoint, kind, query }) => anthropicUrl(endpoint.url, PATHS[kind], query),
  headers: anthropicHeaders,
};
