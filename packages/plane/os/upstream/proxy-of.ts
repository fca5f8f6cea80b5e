// The proxy that this machine reaches the world by, as its variables say.
import type { UpstreamOptions } from './upstream.ts';

type Environment = { readonly [name: string]: string | undefined };

export function proxyOf(env: Environment): NonNullable<UpstreamOptions['proxy']> {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'];
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'];
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'];
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}
