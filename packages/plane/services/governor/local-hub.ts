// The hub of a run in this process: the sessions of a run share its counters without a socket in between.

import type { Producer, Profile, ShimSummary } from '@subluminal/contracts';
import { sealSnapshot } from '@subluminal/core/policy';
import type { HubAnswer, HubQuestion, Observation } from '@subluminal/core/session';
import type { AskedCall, Hub } from '../hub/index.ts';
import type { SessionHub } from './governed-session.ts';
import { hubLimits, hubOutcome } from './hub.ts';

interface LocalHubOptions {
  readonly hub: Hub;
  readonly serverName: string;
  readonly profile: Profile;
  readonly producer: Producer;
}

type HubPeer = Parameters<SessionHub['start']>[0];

export class LocalHub implements SessionHub {
  readonly isThere = true;
  readonly #options: LocalHubOptions;
  #peer: HubPeer | undefined;

  constructor(options: LocalHubOptions) {
    this.#options = options;
  }

  start(peer: HubPeer): void {
    this.#peer = peer;
  }

  /** The run is over for this session. */
  shutdown(): void {
    this.#peer?.onShutdown();
  }

  async ask(questions: readonly HubQuestion[]): Promise<readonly HubAnswer[]> {
    const { hub } = this.#options;
    const snapshot = this.#peer?.snapshot();
    // A policy that has just changed, and that the hub does not know.
    if (snapshot !== undefined) await hub.policy(sealSnapshot(snapshot));
    for (const question of questions) {
      const asked = this.#asked(question);
      if (asked !== undefined) await hub.whenReturned(asked);
    }
    return this.#decide(questions) ?? questions.map((question) => unanswered(question));
  }

  /** Undefined when the hub does not have the policy, or when shims hold calls that these need. */
  askNow(questions: readonly HubQuestion[]): readonly HubAnswer[] | undefined {
    const { hub } = this.#options;
    const mustWait = questions.some((question) => {
      const asked = this.#asked(question);
      return asked !== undefined && hub.mustWait(asked);
    });
    return mustWait ? undefined : this.#decide(questions);
  }

  #decide(questions: readonly HubQuestion[]): readonly HubAnswer[] | undefined {
    const answers: HubAnswer[] = [];
    for (const question of questions) {
      const asked = this.#asked(question);
      if (asked === undefined) return questions.map(unanswered);
      const answer = this.#options.hub.evaluateCall(asked);
      if ('needs_policy' in answer && answer.needs_policy === true) return undefined;
      const outcome = 'kind' in answer ? undefined : hubOutcome(answer);
      answers.push({ callId: asked.callId, outcome });
    }
    return answers;
  }

  #asked({ ref, call, beside, limits }: HubQuestion): AskedCall | undefined {
    const snapshot = this.#peer?.snapshot();
    if (snapshot === undefined) return undefined;
    const { policy_hash: policyHash } = snapshot.ref;
    const counted = limits && hubLimits(limits);
    const { profile } = this.#options;
    return { callId: ref.call_id, policyHash, profile, call, beside, limits: counted };
  }

  async observe(observations: readonly Observation[]): Promise<boolean> {
    const { hub, producer, serverName } = this.#options;
    const { run_id, source } = producer;
    const { shim_id } = source;
    for (const { callId: call_id, tool: tool_name, text } of observations) {
      const observed = await this.#withPolicy((policy_hash) => {
        const at = { run_id, shim_id, server_id: serverName, policy_hash };
        return hub.observe({ ...at, call_id, tool_name, text });
      });
      if (observed === undefined || 'kind' in observed || !observed.heard) return false;
    }
    return true;
  }

  result(callId: string, result: 'error'): void {
    const { hub, producer } = this.#options;
    hub.result({ run_id: producer.run_id, call_id: callId, result });
  }

  terminate({ code, message }: { readonly code: string; readonly message: string }): void {
    const { hub, producer, serverName } = this.#options;
    hub.terminate({ run_id: producer.run_id, code, message, server_id: serverName });
  }

  /** The run adds up what its sessions did by itself. */
  leave(_summary: ShimSummary): Promise<void> {
    this.#peer = undefined;
    return Promise.resolve();
  }

  /** The hub gets the policy in force when it does not have it. */
  async #withPolicy<T extends object>(ask: (policyHash: string) => T): Promise<T | undefined> {
    const snapshot = this.#peer?.snapshot();
    if (snapshot === undefined) return undefined;
    const { policy_hash } = snapshot.ref;
    const first = ask(policy_hash);
    if (!('needs_policy' in first) || first.needs_policy !== true) return first;
    await this.#options.hub.policy(sealSnapshot(snapshot));
    return ask(policy_hash);
  }
}

function unanswered({ ref }: HubQuestion): HubAnswer {
  return { callId: ref.call_id, outcome: undefined };
}
