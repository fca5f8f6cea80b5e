// The turns of an agent that lives in this process: governed and recorded as those of `sub run --models`, without a
// socket in between, and sent with keys that the agent does not see.
import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { AgentTurns } from '@subluminal/plane/agent-run';
import type { Upstream } from '@subluminal/plane/upstream';
import { createTurnEngine, rememberingWires, type TurnLimits } from '../turns/index.ts';
import { answerWhole, type WholeAnswer } from '../turns/whole-answer.ts';
import { type GovernorSettings, openLocalGovernor } from './open-governor.ts';
import { TurnRecorder } from './record-turns.ts';
import type { TurnTarget } from './upstreams.ts';

export interface OwnTurnsOptions extends GovernorSettings {
  readonly upstream: Upstream;
  readonly limits?: Partial<TurnLimits>;
}

export interface OwnTurns {
  /** For the model calls of one run. */
  open(run: AgentTurns): Promise<RunTurns | Failure>;
}

export interface RunTurns {
  readonly kind: 'run_turns';
  /** Never rejects. */
  ask(turn: OwnTurn): Promise<WholeAnswer>;
  /** Nobody is asked about its turns any more, and they are in the account of the run. */
  close(): void;
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
      const { producer, sink, hub } = run;
      const recorder = new TurnRecorder({ producer, sink, warn: tell });
      let snapshot = run.snapshot();
      const governing = await openLocalGovernor(options, {
        producer,
        hub,
        snapshot,
        recorder,
        // The run itself says when its policy changes.
        policyFiles: { sources: [], home: paths.home, mark: '', hashes: [], loosening: undefined },
        degraded: tell,
      });
      if (isFailure(governing)) return governing;
      const { governor } = governing;
      let taken = Promise.resolve();
      const ask: RunTurns['ask'] = async ({ target, body, conversation, headers, signal }) => {
        const current = run.snapshot();
        if (current !== snapshot) taken = governing.usePolicy(current);
        snapshot = current;
        await taken;
        return answerWhole(
          engine,
          { headers, body, signal },
          {
            governor: governor.toward(() => target),
            wire: 'anthropic_messages',
            kind: 'answer',
            path: '/v1/messages',
            conversation: `${producer.run_id} ${conversation}`,
          },
        );
      };
      const close = (): void => {
        governing.close();
        run.ended(recorder.summary);
      };
      return { kind: 'run_turns', ask, close };
    },
  };
}
