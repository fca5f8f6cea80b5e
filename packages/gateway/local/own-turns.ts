// The turns of an agent that lives in this process: governed and recorded as those of `sub run --models`, without a
// socket in between, and sent with keys that the agent does not see.
import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, isFailure, type Producer, type ShimSummary } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { Hub } from '@subluminal/plane/hub';
import type { BatchingSink } from '@subluminal/plane/sink';
import type { Upstream } from '@subluminal/plane/upstream';
import { createTurnEngine, rememberingWires, type TurnLimits } from '../turns/index.ts';
import { answerWhole, type WholeAnswer } from '../turns/whole-answer.ts';
import { type GovernorSettings, openLocalGovernor } from './open-governor.ts';
import { TurnRecorder } from './record-turns.ts';
import type { TurnTarget } from './upstreams.ts';

/** A run of the ledger whose turns are asked here. */
export interface OwnRun {
  readonly producer: Producer;
  readonly hub: Pick<Hub, 'evaluate' | 'settle' | 'policy'>;
  readonly sink: BatchingSink;
  readonly snapshot: Snapshot;
}

export interface OwnTurnsOptions extends GovernorSettings {
  readonly upstream: Upstream;
  readonly limits?: Partial<TurnLimits>;
}

export interface OwnTurns {
  open(run: OwnRun): Promise<RunTurns | Failure>;
}

export interface RunTurns {
  readonly kind: 'run_turns';
  /** Never rejects. */
  ask(turn: OwnTurn): Promise<WholeAnswer>;
  usePolicy(snapshot: Snapshot): Promise<void>;
  /** Nobody is asked about its turns any more. Gives their counts. */
  close(): ShimSummary;
}

export interface OwnTurn {
  readonly target: TurnTarget;
  /** A request of Anthropic's wire that is not streamed. */
  readonly body: Buffer;
  /** What tells this conversation from others of the run. */
  readonly conversation: string;
  readonly headers: IncomingHttpHeaders;
  readonly signal: AbortSignal;
}

export function openOwnTurns(options: OwnTurnsOptions): OwnTurns {
  const { upstream, limits = {}, tell, paths } = options;
  const engine = createTurnEngine({
    wires: rememberingWires(),
    upstream,
    limits,
    nowMs: () => performance.now(),
    onDefect: (_, cause) => tell(`a turn failed: ${String(cause)}`),
  });
  return {
    async open(run) {
      const { producer, sink, hub, snapshot } = run;
      const recorder = new TurnRecorder({ producer, sink, warn: tell });
      const governing = await openLocalGovernor(options, {
        producer,
        hub,
        snapshot,
        recorder,
        // Whoever made the policy says when it changes.
        policyFiles: { sources: [], home: paths.home, mark: '', hashes: [], loosening: undefined },
        degraded: tell,
      });
      if (isFailure(governing)) return governing;
      return {
        kind: 'run_turns',
        ask: ({ target, body, conversation, headers, signal }) =>
          answerWhole(
            engine,
            { headers, body, signal },
            {
              governor: governing.governor.toward(() => target),
              wire: 'anthropic_messages',
              kind: 'answer',
              path: '/v1/messages',
              conversation: `${producer.run_id} ${conversation}`,
            },
          ),
        usePolicy: (changed) => governing.usePolicy(changed),
        close() {
          governing.close();
          return recorder.summary;
        },
      };
    },
  };
}
