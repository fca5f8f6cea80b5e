// What a shim counts for the metrics of its hub: plain numbers, nothing new per message.
import {
  type Decision,
  HUB_DECISIONS,
  HUB_METHODS,
  type Profile,
  type ShimCounts,
} from '@subluminal/contracts';
import type { Report, Side } from '@subluminal/core/session';

interface Box {
  count: number;
}
type Boxes = ReadonlyMap<string, Box>;
export type DecisionLabel = (typeof HUB_DECISIONS)[number];

/** As many as a heartbeat takes. */
const ERROR_TYPES_MAX = 64;

export class Counter {
  serverState: ShimCounts['server_state'] = 'running';
  readonly #agent = boxesFor(HUB_METHODS);
  readonly #server = boxesFor(HUB_METHODS);
  readonly #decisions = boxesFor(HUB_DECISIONS);
  readonly #errors = new Map<string, Box>();
  readonly #approvals = { count: 0, waited_ms: 0 };

  message(from: Side, method: string): void {
    bump(from === 'agent' ? this.#agent : this.#server, method);
  }

  decision(label: DecisionLabel): void {
    bump(this.#decisions, label);
  }

  report({ what, reason }: Report): void {
    if (what === 'NOTICED') return;
    const box = this.#errors.get(reason);
    if (box !== undefined) box.count++;
    else if (this.#errors.size < ERROR_TYPES_MAX) this.#errors.set(reason, { count: 1 });
  }

  /** A call has waited for a person. */
  waited(waitedMs: number): void {
    this.#approvals.count++;
    this.#approvals.waited_ms += waitedMs;
  }

  counts(profile: Profile): ShimCounts {
    return {
      profile,
      server_state: this.serverState,
      messages: [
        ...messagesIn('agent_to_server', this.#agent),
        ...messagesIn('server_to_agent', this.#server),
      ],
      decisions: filled(this.#decisions, (decision, count) => ({ decision, count })),
      framing_errors: filled(this.#errors, (error_type, count) => ({ error_type, count })),
      ...(this.#approvals.count > 0 && { approvals: { ...this.#approvals } }),
    };
  }
}

/** A decision in the word of the metrics and the log. */
export function labelOf({ action, would }: Decision): DecisionLabel {
  if (action !== 'ALLOW') return 'deny';
  return would === undefined || would.action === 'ALLOW' ? 'forward' : `WOULD_${would.action}`;
}

function boxesFor(labels: readonly string[]): Boxes {
  return new Map(labels.map((label) => [label, { count: 0 }]));
}

function bump(boxes: Boxes, label: string): void {
  const box = boxes.get(label) ?? boxes.get('other');
  if (box !== undefined) box.count++;
}

function messagesIn<D extends string>(direction: D, boxes: Boxes) {
  return filled(boxes, (method, count) => ({ direction, method, count }));
}

/** What has been counted at all. */
function filled<T>(boxes: Boxes, show: (label: string, count: number) => T): readonly T[] {
  return [...boxes].flatMap(([label, { count }]) => (count === 0 ? [] : [show(label, count)]));
}
