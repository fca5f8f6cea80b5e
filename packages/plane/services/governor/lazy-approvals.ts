// The shim's way to people who approve calls. Its code is loaded when a policy asks people: most never do.
import type { EventBody, Producer } from '@subluminal/contracts';
import { policiesIn, ruleRole, type Snapshot } from '@subluminal/core/policy';
import type {
  ApprovalAnswer,
  ApprovalWanted,
  Approver,
  AskedFor,
  DiscardReason,
} from '@subluminal/core/session';
import { hasTerminal } from '../../stores/identity/index.ts';
import type { Approvals } from './approvals.ts';

export interface LazyApprovalsOptions {
  /** `$SUB_HOME`. */
  readonly home: string;
  readonly producer: Producer;
  readonly warn: (text: string) => void;
  /** Something besides a terminal of this machine may answer. */
  readonly hasChannel: boolean;
  /** The principal is a caller among others, who must find room to ask as well. */
  readonly isOneOfMany?: boolean;
  /** Asks somewhere else; what it does not take is put into the queue. */
  readonly askElsewhere?: (wanted: ApprovalWanted) => AskedFor | undefined;
}

/** How a running shim takes the answers of people. */
export interface LazyApprovalsPeer {
  readonly now: () => number;
  readonly record: (body: EventBody<'approval'>) => void;
  readonly answer: (callId: string, answer: ApprovalAnswer) => void;
  /** A call waits no longer. */
  readonly waited: (waitedMs: number) => void;
}

const NONE: readonly string[] = [];

export class LazyApprovals {
  readonly #options: LazyApprovalsOptions;
  #approvals: Approvals | undefined;
  #peer: LazyApprovalsPeer | undefined;

  readonly approver: Approver;

  constructor(options: LazyApprovalsOptions) {
    this.#options = options;
    const { producer, hasChannel, askElsewhere } = options;
    this.approver = {
      granted: (query, ruleIds) => this.#approvals?.granted(query, ruleIds) ?? NONE,
      take: (query, ruleIds) => this.#approvals?.take(query, ruleIds),
      ask: (wanted) => askElsewhere?.(wanted) ?? this.#approvals?.ask(wanted),
      isUnattended: producer.env === 'ci' && !hasChannel && !hasTerminal(),
    };
  }

  /** Must be called before a session uses this policy, or gates that may ask. */
  async prepare(snapshot: Snapshot, mayAsk: boolean): Promise<void> {
    if (this.#approvals !== undefined) return;
    const rules = policiesIn(snapshot).flatMap((policy) => policy.rules);
    if (!mayAsk && !rules.some(({ rule }) => ruleRole(rule) === 'asks')) return;
    const { Approvals: Loaded } = await import('./approvals.ts');
    this.#approvals ??= new Loaded({ ...this.#options, peer: () => this.#peer });
  }

  start(peer: LazyApprovalsPeer): void {
    this.#peer = peer;
  }

  discard(callId: string, why: DiscardReason): void {
    this.#approvals?.discard(callId, why);
  }

  /** Ends requests whose time is up. */
  tick(): void {
    this.#approvals?.tick();
  }

  close(): void {
    this.#approvals?.close();
  }
}
