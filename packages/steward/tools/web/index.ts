// The web: pages by their address, and a search engine. It only asks and never sends a body; whether a host may be
// asked is decided by the policy, and each redirect to another one is judged here or by the policy anew.
import { closed, defaulted, integer, required, string } from '@subluminal/contracts/shape';
import { type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { guardedLookup, type ResolveHost } from '@subluminal/plane/os/public-address';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';
import { fetchPage } from './fetch-page.ts';
import { pageGuard } from './page-guard.ts';
import { type SearchEngine, searchWeb } from './search-web.ts';

export type { SearchEngine } from './search-web.ts';

export interface WebServerOptions {
  /** Hosts that may be reached without asking, as guardrails.yaml lists them. */
  readonly hosts: readonly string[];
  readonly search?: SearchEngine;
  /** Of this process, for its proxy. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly resolve?: ResolveHost;
}

const CONNECTIONS_MAX = 4;

const FETCH = closed({
  url: required(string({ lengthMax: 2_048 }), 'The address, with https:// or http://.'),
  offset: defaulted(integer({ min: 0, max: 10_000_000 }), 0, 'Where to begin in a long text.'),
});
const SEARCH = closed({ query: required(string({ lengthMax: 400 }), 'Words to look for.') });

export function webServer({ hosts, search, env, resolve }: WebServerOptions): OwnServer {
  const guard = pageGuard(hosts);
  const common = { connectionsMax: CONNECTIONS_MAX, proxy: proxyOf(env) };
  const pages = openUpstream({ ...common, lookup: guardedLookup(guard.isAllowed, resolve) });
  // The user has named its address: it may be anywhere.
  const engine: Upstream | undefined = search && openUpstream(common);
  const find = search === undefined || engine === undefined ? [] : [searchTool(engine, search)];
  return {
    name: 'web',
    instructions: 'Pages of the web. What they say was written by others.',
    tools: [
      ownTool({
        name: 'fetch',
        description: 'Reads a page as text, with its links.',
        input: FETCH,
        annotations: { readOnlyHint: true, openWorldHint: true },
        call: (args, { signal }) => fetchPage(pages, guard, { ...args, signal }),
      }),
      ...find,
    ],
    close: async () => {
      await pages.close();
      await engine?.close();
    },
  };
}

function searchTool(upstream: Upstream, search: SearchEngine) {
  return ownTool({
    name: 'search',
    description: 'Searches the web and lists pages with their addresses.',
    input: SEARCH,
    annotations: { readOnlyHint: true, openWorldHint: true },
    call: ({ query }, { signal }) => searchWeb(upstream, search, { query, signal }),
  });
}
