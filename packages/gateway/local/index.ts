// The model plane of one developer's run: no server, no account. The agent's turns come to a loopback address,
// are decided by the policy of the run, and go on to where they would have gone, with the agent's own key.
import { type Failure, isFailure, type ShimSummary } from '@subluminal/contracts';
import type { ModelsTold, RunModels } from '@subluminal/plane/run';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';
import { createTurnEngine, rememberingWires } from '../turns/index.ts';
import { type GovernorSettings, type OpenGovernor, openLocalGovernor } from './open-governor.ts';
import { passThrough } from './pass-through.ts';
import { type CodexProvider, codexProvider, escapeOf, pointAgent } from './point-agent.ts';
import { NO_TURNS, TurnRecorder } from './record-turns.ts';
import { type LocalServer, openLocalServer } from './server.ts';
import { ownTargets, ownUpstreams, type Upstreams } from './upstreams.ts';

export type { WholeAnswer } from '../turns/whole-answer.ts';
export type { GovernorSettings } from './open-governor.ts';
export { type OwnTurns, openOwnTurns, type RunTurns } from './own-turns.ts';
export { COST_HEADER, ownEndpoint, type TurnTarget } from './upstreams.ts';

export interface LocalModelsOptions extends GovernorSettings {
  readonly cwd: string;
}

interface Opened {
  readonly server: LocalServer;
  readonly upstream: Upstream;
  readonly governing: OpenGovernor;
  readonly recorder: TurnRecorder;
}

export function localModels(options: LocalModelsOptions): RunModels {
  let opened: Opened | undefined;
  let summary: ShimSummary = NO_TURNS;
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
      const { server, upstream, governing, recorder } = opened ?? {};
      opened = undefined;
      governing?.close();
      await server?.close();
      await upstream?.close();
      summary = recorder?.summary ?? summary;
      return summary;
    },
  };
}

const OPENAI: CodexProvider = { kind: 'openai' };

async function openModels(
  options: LocalModelsOptions,
  told: ModelsTold,
  upstreams: Upstreams,
): Promise<Opened | Failure> {
  const { producer, sink, env } = told;
  const recorder = new TurnRecorder({ producer, sink, warn: options.tell });
  const governing = await openLocalGovernor(options, { ...told, recorder });
  if (isFailure(governing)) return governing;
  const governor = governing.governor.toward(ownTargets(upstreams));
  const upstream = openUpstream({ proxy: proxyOf(env) });
  const nowMs = () => performance.now();
  const engine = createTurnEngine({ wires: rememberingWires(), upstream, nowMs });
  const server = await openLocalServer({
    turn: (request, response, route) =>
      void engine.handle(request, response, { ...route, governor }),
    pass: (request, response, path) =>
      void passThrough({ request, response, path }, { upstream, upstreams }),
  });
  if (!isFailure(server)) return { server, upstream, governing, recorder };
  governing.close();
  await upstream.close();
  return server;
}
