// The proxy of a machine without a gateway: its own policy decides, as in `sub run --models`, and turns go to the
// providers with the keys of the agents.
import type { IncomingMessage } from 'node:http';
import { type Failure, isFailure } from '@subluminal/contracts';
import { userHome } from '@subluminal/plane/config';
import { openRunCedar } from '@subluminal/plane/run';
import { openUpstream, proxyOf } from '@subluminal/plane/upstream';
import type { GovernorSettings } from '../local/open-governor.ts';
import { passThrough } from '../local/pass-through.ts';
import { ACCOUNT_HEADER, askedFor, ownUpstreams, routeOf } from '../local/upstreams.ts';
import { createTurnEngine, rememberingWires } from '../turns/index.ts';
import { OwnSessions } from './own-sessions.ts';
import { openProxyServer, type ProxyServerOptions } from './proxy-server.ts';
import { RepoReader } from './repo-facts.ts';
import { SessionRuns } from './session-runs.ts';
import { DRAIN_MS, openSink, type ProxyOptions, type RunningProxy } from './start-proxy.ts';

export type OwnProxyOptions = Omit<ProxyOptions, 'login' | 'passesEvents'> &
  Pick<GovernorSettings, 'prices' | 'hasChannel'> & {
    readonly env: { readonly [name: string]: string | undefined };
  };

export async function startOwnProxy(options: OwnProxyOptions): Promise<RunningProxy | Failure> {
  const { config, paths, producer, log, port, version, env } = options;
  const { 'proxy.anthropic_url': anthropic, 'proxy.openai_url': openai } = config;
  const addresses = { ANTHROPIC_BASE_URL: anthropic, OPENAI_BASE_URL: openai };
  const upstreams = ownUpstreams(addresses, undefined);
  if (isFailure(upstreams)) return upstreams;
  const cedar = await openRunCedar({ config, tell: log });
  if (isFailure(cedar)) return cedar;
  const sink = openSink(options);
  if (isFailure(sink)) return sink;
  const runs = new SessionRuns({ producer, sink, runDir: paths.run, warn: log });
  const sessions = new OwnSessions({
    ...options,
    tell: log,
    runs,
    repos: new RepoReader(),
    upstreams,
    judge: cedar?.judge,
    userHome: userHome(env),
  });
  const upstream = openUpstream({ proxy: proxyOf(env) });
  const onDefect = (_trace: string, cause: unknown) => log(`A defect: ${String(cause)}`);
  const nowMs = () => performance.now();
  const engine = createTurnEngine({ wires: rememberingWires(), upstream, nowMs, onDefect });
  const turn: ProxyServerOptions['turn'] = (request, response, peer) => {
    const path = routedPath(request);
    const asked = routeOf(path) === undefined ? undefined : askedFor(request.method ?? '', path);
    if (asked === undefined) return false;
    if (asked.kind === 'pass') {
      void passThrough({ request, response, path }, { upstream, upstreams });
      return true;
    }
    void engine.handle(request, response, { ...asked, path, governor: sessions.governor(peer) });
    return true;
  };
  const told: ProxyServerOptions['told'] = {
    version: () => ({ version }),
    health: () => ({ status: 'ok', mode: 'own' }),
    whoami: () => ({ mode: 'own', user_id: producer.principal ?? null }),
    sessions: () => ({ sessions: runs.list() }),
  };
  // A policy that is broken now would refuse every turn.
  const policy = await sessions.policy(paths.home);
  const { home } = paths;
  const server = isFailure(policy) ? policy : await openProxyServer({ port, home, turn, told });
  const close = async () => {
    if (!isFailure(server)) await server.close(DRAIN_MS);
    await runs.close();
    await upstream.close();
    await cedar?.close();
  };
  if (!isFailure(server)) return { kind: 'running', url: server.url, mode: 'own', close };
  await close();
  return server;
}

/** The version stands in the address of OpenAI already, and a login with ChatGPT has an address of its own. */
function routedPath({ url = '', headers }: IncomingMessage): string {
  const route = headers[ACCOUNT_HEADER] === undefined ? '/openai' : '/codex';
  return url.replace(/^\/openai(?:\/v1)?(?=\/)/, route);
}
