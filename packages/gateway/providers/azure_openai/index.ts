// Azure OpenAI: a model is known by the name of its deployment, which stands in the path.
import { trimmed, withQuery } from '../base-url.ts';
import { compatibleWires } from '../openai_compat/index.ts';
import type { Provider, UpstreamTarget } from '../types.ts';
import { azureHeaders } from './headers.ts';

const API_VERSION = '2024-10-21';

/** The Responses wire has one address for all deployments: its body names the one that is meant. */
function azureUrl({ endpoint, deployment, model, kind, wire }: UpstreamTarget): string {
  const root = `${trimmed(endpoint.url).replace(/\/openai(?:\/v1)?$/, '')}/openai`;
  const version = `api-version=${encodeURIComponent(endpoint.apiVersion ?? API_VERSION)}`;
  if (kind === 'models') return withQuery(`${root}/models`, version);
  if (wire === 'openai_responses') return `${root}/v1/responses`;
  const name = encodeURIComponent(deployment ?? model);
  return withQuery(`${root}/deployments/${name}/chat/completions`, version);
}

export const azureOpenai: Provider = {
  name: 'azure_openai',
  wires: compatibleWires,
  hasCountTokens: false,
  url: azureUrl,
  headers: azureHeaders,
};
