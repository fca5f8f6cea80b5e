// People who approve turns: asked through the same queue as about calls of tools, while the client waits.
import type { Decision, EventBody, Producer } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { ApprovalAnswer, GrantQuery, TakenGrant } from '@subluminal/core/session';
import { LazyApprovals } from '@subluminal/plane/governor/approvals';

export interface PeopleOptions {
  readonly home: string;
  readonly producer: Producer;
  readonly snapshot: Snapshot;
  readonly hasChannel: boolean;
  readonly warn: (text: string) => void;
  readonly record: (body: EventBody<'approval'>) => void;
}

export interface AskedTurn {
  readonly query: GrantQuery;
  readonly decision: Decision;
  readonly riskClass: readonly string[];
  /** What a person sees of the turn, as JSON. */
  readonly shown: string;
}

/** Requests whose time is up end with the next look. */
const TICK_MS = 1_000;

export class People {
  readonly #options: PeopleOptions;
  readonly #approvals: LazyApprovals;
  readonly #waiting = new Map<string, (answer: ApprovalAnswer | 'cancelled') => void>();
  readonly #timer: NodeJS.Timeout;

  static async open(options: PeopleOptions): Promise<People> {
    const people = new People(options);
    await people.prepare(options.snapshot);
    return people;
  }

  /** Must be called before turns are decided by this policy. */
  prepare(snapshot: Snapshot): Promise<void> {
    return this.#approvals.prepare(snapshot, false);
  }

  private constructor(options: PeopleOptions) {
    this.#options = options;
    this.#approvals = new LazyApprovals(options);
    this.#approvals.start({
      now: () => Math.floor(performance.now()),
      record: options.record,
      answer: (callId, answer) => this.#end(callId, answer),
      waited: () => {},
    });
    this.#timer = setInterval(() => this.#approvals.tick(), TICK_MS).unref();
  }

  granted(query: GrantQuery, ruleIds: readonly string[]): readonly string[] {
    return ruleIds.length === 0 ? [] : this.#approvals.approver.granted(query, ruleIds);
  }

  take(query: GrantQuery, ruleIds: readonly string[]): readonly TakenGrant[] | undefined {
    return ruleIds.length === 0 ? [] : this.#approvals.approver.take(query, ruleIds);
  }

  /** How it gets approved, in words; undefined when nobody can be asked. */
  ask({ query, decision, riskClass, shown }: AskedTurn): string | undefined {
    const { approver } = this.#approvals;
    const { approval, rule_id, summary } = decision;
    if (approval === undefined) throw new Error('this turn needs no approval');
    if (approval.wait === 'hold' && approver.isUnattended === true) return undefined;
    const asked = approver.ask({
      wait: approval.wait,
      timeout_ms: approval.timeout_ms,
      rule_id: rule_id ?? '',
      summary,
      call: query.ref,
      policy_hash: query.policyHash,
      risk_class: riskClass,
      args: { text: shown, complete: true },
    });
    if (asked === undefined) return undefined;
    if (asked.isApproved !== true) {
      const { call_id } = query.ref;
      const step = { id: asked.id, rule_id: rule_id ?? '', state: 'asked' } as const;
      this.#options.record({ call: { call_id }, approval: step });
    }
    return asked.advice;
  }

  /** Resolves when a person has answered, the time is up, or the client has gone. */
  answer(callId: string, signal: AbortSignal): Promise<ApprovalAnswer | 'cancelled'> {
    return new Promise((resolve) => {
      const give = (answer: ApprovalAnswer | 'cancelled'): void => {
        signal.removeEventListener('abort', gone);
        this.#waiting.delete(callId);
        resolve(answer);
      };
      const gone = (): void => {
        this.#approvals.discard(callId, 'cancelled');
        give('cancelled');
      };
      this.#waiting.set(callId, give);
      signal.addEventListener('abort', gone, { once: true });
      if (signal.aborted) gone();
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#approvals.close();
    for (const give of [...this.#waiting.values()]) give('cancelled');
  }

  #end(callId: string, answer: ApprovalAnswer): void {
    this.#waiting.get(callId)?.(answer);
  }
}
