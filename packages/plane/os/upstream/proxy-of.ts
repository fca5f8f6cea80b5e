// The proxy that this machine reaches the world by, as its variables say.
import type { UpstreamOptions } from './upstream.ts';

export type Environment = { readonly [name: string]: string | undefined };

/** As other programs take it: without a scheme, it is an HTTP proxy. */
function proxyUrl(text: string | undefined): string | undefined {
  return !text || text.includes('://') ? text : `http://${text}`;
}

export function proxyOf(env: Environment): NonNullable<UpstreamOptions['proxy']> {
  const httpProxy = proxyUrl(env['http_proxy'] ?? env['HTTP_PROXY']);
  const httpsProxy = proxyUrl(env['https_proxy'] ?? env['HTTPS_PROXY']);
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'];
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}
