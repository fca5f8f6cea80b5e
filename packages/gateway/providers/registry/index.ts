// The providers, by their names. A provider is a folder beside this one and one line here.
import type { ProviderName } from '@subluminal/core/routing';
import { anthropic } from '../anthropic/index.ts';
import { azureOpenai } from '../azure_openai/index.ts';
import { litellm } from '../litellm/index.ts';
import { openai } from '../openai/index.ts';
import { openaiCompat } from '../openai_compat/index.ts';
import { openrouter } from '../openrouter/index.ts';
import type { Provider } from '../types.ts';

export { withoutCredentials } from '../client-headers.ts';
export type { Provider, UpstreamTarget } from '../types.ts';

const PROVIDERS: { readonly [N in ProviderName]: Provider } = {
  anthropic,
  openai,
  openai_compat: openaiCompat,
  openrouter,
  litellm,
  azure_openai: azureOpenai,
};

export function providerFor(name: ProviderName): Provider {
  return PROVIDERS[name];
}
