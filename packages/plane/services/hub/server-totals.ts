// What the shims of a run have counted, summed by the server behind them, as metrics. Everything that
// comes from a shim is bounded here: names of servers, and what becomes a label.
import { HUB_DECISIONS, HUB_METHODS, type ShimCounts } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { type Family, labelText } from './metrics-text.ts';

/** `stopped`: its shim has left. `lost`: its shim was not heard of for too long. */
const SERVER_STATES = ['running', 'exited', 'failed', 'stopped', 'lost'] as const;
export type ServerState = (typeof SERVER_STATES)[number];

const FAMILIES = [
  { name: 'messages_total', type: 'counter', help: 'Messages that came in.' },
  { name: 'governance_decisions_total', type: 'counter', help: 'Tool calls that were decided.' },
  {
    name: 'framing_errors_total',
    type: 'counter',
    help: 'Messages that broke a rule of the protocol.',
  },
  { name: 'server_state', type: 'gauge', help: 'Servers in this state.' },
  {
    name: 'approval_latency_seconds',
    type: 'summary',
    help: 'How long calls have waited for a person.',
  },
  { name: 'active_servers', type: 'gauge', help: 'Servers that run now.' },
] as const;

type FamilyName = (typeof FAMILIES)[number]['name'];

const SERVERS_MAX = 64;
const SERVER_LENGTH_MAX = 128;
/** Stands for the servers beyond the limit; no server is called that by accident. */
const OTHER_SERVERS = '(other servers)';
const ERROR_TYPES_MAX = 32;
const ERROR_TYPE = /^[a-z][a-z0-9_]{0,31}$/;
const OTHER = 'other';
const METHODS: ReadonlySet<string> = new Set(HUB_METHODS);
const DECISIONS: ReadonlySet<string> = new Set(HUB_DECISIONS);

type Samples = Map<string, number>;

export class ServerTotals {
  /** By family, then by the rest of the sample's name. */
  readonly #samples = new Map<FamilyName, Samples>([['active_servers', new Map([['', 0]])]]);
  readonly #errorTypes: Map<string, Set<string>>;
  /** Servers with a name of their own; for good, since a counter must not go back. */
  readonly #named: Set<string>;

  constructor(named = new Set<string>(), errorTypes = new Map<string, Set<string>>()) {
    this.#named = named;
    this.#errorTypes = errorTypes;
  }

  add(serverId: string, counts: ShimCounts): void {
    const server_id = this.#nameOf(serverId);
    const { profile, messages, decisions, framing_errors, approvals } = counts;
    for (const { direction, method, count } of messages) {
      const labels = { server_id, direction, method: METHODS.has(method) ? method : OTHER };
      this.#bump('messages_total', labelText(labels), count);
    }
    for (const { decision, count } of decisions) {
      const known = DECISIONS.has(decision) ? decision : OTHER;
      const labels = labelText({ server_id, profile, decision: known });
      this.#bump('governance_decisions_total', labels, count);
    }
    for (const { error_type, count } of framing_errors) {
      const labels = { server_id, error_type: this.#errorLabel(server_id, error_type) };
      this.#bump('framing_errors_total', labelText(labels), count);
    }
    const waitedMs = approvals?.waited_ms ?? 0;
    this.#bump('approval_latency_seconds', `_sum${labelText({ server_id })}`, waitedMs / 1_000);
    this.#bump(
      'approval_latency_seconds',
      `_count${labelText({ server_id })}`,
      approvals?.count ?? 0,
    );
  }

  addState(serverId: string, state: ServerState): void {
    const server_id = this.#nameOf(serverId);
    for (const one of SERVER_STATES) {
      this.#bump('server_state', labelText({ server_id, state: one }), one === state ? 1 : 0);
    }
    this.#bump('active_servers', '', state === 'running' ? 1 : 0);
  }

  copy(): ServerTotals {
    const copy = new ServerTotals(this.#named, this.#errorTypes);
    for (const [family, samples] of this.#samples) copy.#samples.set(family, new Map(samples));
    return copy;
  }

  families(): readonly Family[] {
    return FAMILIES.map((family) => {
      return { ...family, samples: [...(this.#samples.get(family.name) ?? [])] };
    });
  }

  #bump(family: FamilyName, sample: string, count: number): void {
    const samples: Samples = this.#samples.get(family) ?? new Map();
    samples.set(sample, (samples.get(sample) ?? 0) + count);
    this.#samples.set(family, samples);
  }

  #nameOf(serverId: string): string {
    const name = visible(serverId, SERVER_LENGTH_MAX);
    if (this.#named.size < SERVERS_MAX) this.#named.add(name);
    return this.#named.has(name) ? name : OTHER_SERVERS;
  }

  #errorLabel(server: string, errorType: string): string {
    const known = this.#errorTypes.get(server) ?? new Set();
    this.#errorTypes.set(server, known);
    if (ERROR_TYPE.test(errorType) && known.size < ERROR_TYPES_MAX) known.add(errorType);
    return known.has(errorType) ? errorType : OTHER;
  }
}
