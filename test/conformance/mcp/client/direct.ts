import { StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { scenarioContext } from './context.ts';
import { oauthFetch } from './oauth-fetch.ts';
import type { Connection } from './types.ts';

/** The SDK's own HTTP client, with its own OAuth. */
export function direct(url: string): Connection {
  const fetch = oauthFetch(url, scenarioContext());
  return {
    legacy: () => new StreamableHTTPClientTransport(new URL(url), { fetch }),
    modern: () => new ModernTransport(new URL(url), { fetch }),
    // Its `fetch` does it.
    logIn: async () => false,
    close: async () => undefined,
  };
}
