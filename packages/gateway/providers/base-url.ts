// Where a provider's paths begin. People write base URLs as the SDKs of the wires take them.

/** Anthropic's SDK takes the address without its version; one that was written with it means the same. */
export function anthropicUrl(base: string, path: string, query: string): string {
  const root = trimmed(base).replace(/\/v1$/, '');
  return withQuery(`${root}/v1/${path}`, query);
}

/** OpenAI's SDK takes everything before the path. An address that is only a host gets the usual version. */
export function openAiUrl(base: string, path: string, query: string): string {
  const root = trimmed(base);
  const isHostOnly = /^[a-z][a-z0-9+.-]*:\/\/[^/]+$/i.test(root);
  return withQuery(`${root}${isHostOnly ? '/v1' : ''}/${path}`, query);
}

export function withQuery(url: string, query: string): string {
  return query === '' ? url : `${url}?${query}`;
}

export function trimmed(base: string): string {
  return base.replace(/\/+$/, '');
}
