// The model plane of one developer's run: no server, no account. The agent's turns come to a loopback address,
// are decided by the policy of the run, and go on to where they would have gone, with the agent's own key.
import { isUtf8 } from 'node:buffer';
import { type Failure, isFailure, type ModelPrice, type ShimSummary } from '@subluminal/contracts';
import { LIST_PRICES, priceBook } from '@subluminal/core/routing';
import { outlineRequest, spliceModel, wireFor } from '@subluminal/core/wires';
import type { Config, HomePaths } from '@subluminal/plane/config';
import { policyLoaded } from '@subluminal/plane/policy/follow';
import type { ModelsTold, RunModels } from '@subluminal/plane/run';
import { pricesOf } from '../config/written-prices.ts';
import { createTurnEngine, type TurnWires } from '../turns/index.ts';
import { openUpstream, type Upstream } from '../upstream/index.ts';
import { LocalGovernor } from './governor.ts';
import { passThrough } from './pass-through.ts';
import { People } from './people.ts';
import { type CodexProvider, codexProvider, escapeOf, pointAgent } from './point-agent.ts';
import { TurnRecorder } from './record-turns.ts';
import { type LocalServer, openLocalServer } from './server.ts';
import { openTurnPolicies, type TurnPolicies } from './turn-policy.ts';
import { ownUpstreams, proxyOf, type Upstreams } from './upstreams.ts';

export interface LocalModelsOptions {
  readonly config: Config;
  readonly paths: HomePaths;
  /** What models cost for this user; the list prices hold for all others. */
  readonly prices: readonly ModelPrice[];
  readonly cwd: string;
  /** Something besides a terminal of this machine may answer requests for approval. */
  readonly hasChannel: boolean;
  /** Tells the person in front of the machine, on one line. */
  readonly tell: (text: string) => void;
}

const NO_TURNS: ShimSummary = {
  calls_total: 0,
  calls_allowed: 0,
  calls_blocked: 0,
  calls_throttled: 0,
  errors_total: 0,
  calls_spared: 0,
};

interface Opened {
  readonly server: LocalServer;
  readonly upstream: Upstream;
  readonly people: People;
  readonly recorder: TurnRecorder;
  readonly policies: TurnPolicies;
}

export function localModels(options: LocalModelsOptions): RunModels {
  let opened: Opened | undefined;
  let summary = NO_TURNS;
  return {
    async begin(told) {
      const { producer, env, command } = told;
      const start = { client: producer.client, env, command, cwd: options.cwd };
      const escape = escapeOf(start);
      if (escape !== undefined) return escape;
      const codex = producer.client === 'codex' ? codexProvider(start) : OPENAI;
      if (isFailure(codex)) return codex;
      const upstreams = ownUpstreams(env, codex.kind === 'own' ? codex.baseUrl : undefined);
      if (isFailure(upstreams)) return upstreams;
      const made = await openModels(options, told, upstreams);
      if (isFailure(made)) return made;
      opened = made;
      return pointAgent(start, made.server, codex);
    },
    async end() {
      const { server, upstream, people, recorder, policies } = opened ?? {};
      opened = undefined;
      policies?.stop();
      people?.close();
      await server?.close();
      await upstream?.close();
      summary = recorder?.summary ?? summary;
      return summary;
    },
  };
}

const OPENAI: CodexProvider = { kind: 'openai' };

const BYTE_TOOLS = {
  isUtf8,
  latin1: (bytes: Uint8Array) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
};
const WIRES: TurnWires = {
  wire: wireFor,
  outline: (wire, body) => outlineRequest(wire, body, BYTE_TOOLS),
  withModel: spliceModel,
};

async function openModels(
  options: LocalModelsOptions,
  told: ModelsTold,
  upstreams: Upstreams,
): Promise<Opened | Failure> {
  const { producer, hub, sink, snapshot, env } = told;
  const { config, paths, prices, hasChannel, tell } = options;
  const policies = await openTurnPolicies(options, told);
  if (isFailure(policies)) return policies;
  const recorder = new TurnRecorder({ producer, sink, warn: tell });
  const people = await People.open({
    home: paths.home,
    producer,
    snapshot,
    hasChannel,
    warn: tell,
    record: (body) => recorder.record('approval', body),
  });
  const governor = new LocalGovernor({
    producer,
    profile: config.profile,
    policy: policies.current,
    hub,
    recorder,
    people,
    prices: priceBook([
      ...pricesOf({ prices, cost_source_default: 'provider_usage' }),
      ...LIST_PRICES,
    ]),
    upstreams,
  });
  const upstream = openUpstream({ proxy: proxyOf(env) });
  const nowMs = () => performance.now();
  const engine = createTurnEngine({ wires: WIRES, upstream, nowMs });
  const server = await openLocalServer({
    turn: (request, response, route) =>
      void engine.handle(request, response, { ...route, governor }),
    pass: (request, response, path) =>
      void passThrough({ request, response, path }, { upstream, upstreams }),
  });
  if (!isFailure(server)) {
    policies.follow({
      prepare: (changed) => people.prepare(changed),
      taken: (changed) => recorder.record('policy_loaded', policyLoaded(changed, true)),
    });
    return { server, upstream, people, recorder, policies };
  }
  people.close();
  await upstream.close();
  return server;
}
