// The sessions of a proxy without a gateway. Each is a run with a hub and a governor of its own: the policy that
// holds in its folder decides, and its budgets count by themselves.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { sha256 } from '@subluminal/plane/crypto';
import { Hub, type Judge } from '@subluminal/plane/hub';
import { monotonicClock } from '@subluminal/plane/os';
import { policySources, sourceWarnings } from '@subluminal/plane/policy';
import { loadPolicy, policyFailureText } from '@subluminal/plane/policy/watch';
import {
  type GovernorSettings,
  type OpenGovernor,
  openLocalGovernor,
} from '../local/open-governor.ts';
import { ownTargets, type Upstreams } from '../local/upstreams.ts';
import { refuse } from '../turns/refuse.ts';
import type { TurnGovernor, TurnPlan, TurnRequest } from '../turns/types.ts';
import type { PeerProcess } from './peer-process.ts';
import type { RepoReader } from './repo-facts.ts';
import type { SessionFacts, SessionRun, SessionRuns } from './session-runs.ts';
import { clientKey, turnSession } from './turn-session.ts';

export interface OwnSessionsOptions extends GovernorSettings {
  readonly runs: SessionRuns;
  readonly repos: RepoReader;
  readonly upstreams: Upstreams;
  /** The Cedar policies, where there are some. */
  readonly judge: Judge | undefined;
  readonly userHome: string;
}

const WORDS_MAX = 500;

export class OwnSessions {
  readonly #options: OwnSessionsOptions;
  readonly #governors = new Map<string, Promise<OpenGovernor | Failure>>();

  constructor(options: OwnSessionsOptions) {
    this.#options = options;
  }

  /** Decides the turns of one connection. */
  governor(peer: PeerProcess): TurnGovernor {
    return { begin: (request) => this.#begin(request, peer) };
  }

  /** The policy that holds in a folder; a broken one lets nothing pass. */
  async policy(folder: string) {
    const { config, paths, userHome, tell } = this.#options;
    const { home } = paths;
    const named = config['policy.path'];
    const found = policySources({ cwd: folder, home, userHome, named, trusts: false });
    for (const warning of sourceWarnings(found)) tell(warning);
    const { sources } = found;
    const loaded = await loadPolicy(sources, config.profile);
    if (isFailure(loaded)) {
      const message = `The policy is broken: ${policyFailureText(loaded).replaceAll('\n', ' ')}`;
      return failure('SUB_MODELS_POLICY', message, 'Check it with `sub policy lint`.');
    }
    const { snapshot, hashes } = loaded;
    const policyFiles = { sources, home, mark: '', hashes, loosening: undefined };
    return { kind: 'policy', snapshot, policyFiles } as const;
  }

  async #begin(request: TurnRequest, peer: PeerProcess): Promise<TurnPlan> {
    const { repos, runs, tell } = this.#options;
    if (clientKey(request) === 'placeholder') return refuse('invalid', NO_KEY);
    try {
      const { facts: given } = await turnSession(request, { peer, repos });
      // A client names its session as it likes: that of another folder has another policy.
      const key = `${given.key} ${given.repoRoot ?? ''}`;
      const facts = { ...given, key };
      runs.find(key);
      const opening = this.#governors.get(key) ?? this.#openOrForget(facts);
      this.#governors.set(key, opening);
      const opened = await opening;
      if (isFailure(opened)) {
        tell(opened.message);
        return refuse('invalid', `${opened.message} ${opened.fix}`);
      }
      const session = runs.find(key);
      if (request.kind === 'answer') session?.nextTurn();
      const { upstreams } = this.#options;
      return await opened.governor.toward(ownTargets(upstreams)).begin(request);
    } catch (cause) {
      tell(`A turn could not be decided: ${visible(String(cause), WORDS_MAX)}`);
      return refuse('unavailable', 'The local proxy could not decide this turn.');
    }
  }

  /** The next turn of a session that could not be opened tries again. */
  async #openOrForget(facts: SessionFacts): Promise<OpenGovernor | Failure> {
    const { key } = facts;
    let isOpen = false;
    try {
      const opened = await this.#open(facts);
      isOpen = !isFailure(opened);
      return opened;
    } finally {
      if (!isOpen) {
        this.#governors.delete(key);
        this.#options.runs.end(key);
      }
    }
  }

  async #open(facts: SessionFacts): Promise<OpenGovernor | Failure> {
    const { runs, paths, judge } = this.#options;
    const policy = await this.policy(facts.repoRoot ?? paths.home);
    if (isFailure(policy)) return policy;
    const { snapshot, policyFiles } = policy;
    const session = runs.open(facts, { policy: snapshot.ref, mode: snapshot.document.mode });
    const { producer, recorder } = session;
    const hub = new Hub({
      runId: producer.run_id,
      nowMs: monotonicClock(),
      sha256,
      ...(judge !== undefined && { judge }),
    });
    const governing = await openLocalGovernor(this.#options, {
      producer,
      recorder,
      snapshot,
      policyFiles,
      hub,
      degraded: (reason) => recordDegraded(session, reason),
    });
    if (isFailure(governing)) return governing;
    session.whenEnded(() => {
      this.#governors.delete(facts.key);
      governing.close();
      return hub.terminated() === null ? 'SUCCEEDED' : 'TERMINATED';
    });
    return governing;
  }
}

function recordDegraded({ recorder, startedMs }: SessionRun, reason: string): void {
  const uptime_ms = Math.max(0, Date.now() - startedMs);
  recorder.record('shim_health', { health: { status: 'degraded', reason, uptime_ms } });
}

const NO_KEY =
  'The client has a placeholder for a key, and this machine is logged in to no gateway. Give the client a key of its own, or log in with `sub login`.';
