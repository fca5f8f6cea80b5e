// What the shims of a run have counted, summed by the server behind them. Everything that comes
// from a shim is bounded here: names of servers, and what becomes a label.
import { HUB_DECISIONS, HUB_METHODS, type Profile, type ShimCounts } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';

/** `stopped`: its shim has left. `lost`: its shim was not heard of for too long. */
export const SERVER_STATES = ['running', 'exited', 'failed', 'stopped', 'lost'] as const;
export type ServerState = (typeof SERVER_STATES)[number];
type MessageDirection = ShimCounts['messages'][number]['direction'];

export interface ServerTotal {
  /** By direction, then by method. */
  readonly messages: { readonly [D in MessageDirection]: Map<string, number> };
  /** By profile, then by decision. */
  readonly decisions: { readonly [P in Profile]: Map<string, number> };
  readonly framingErrors: Map<string, number>;
  readonly states: Map<ServerState, number>;
  /** Calls that have waited for a person. */
  readonly approvals: { count: number; waitedMs: number };
}

const SERVERS_MAX = 64;
const SERVER_LENGTH_MAX = 128;
/** Who comes when there is no more room; no server is called that by accident. */
const OTHER_SERVERS = '(other servers)';
const ERROR_TYPES_MAX = 32;
const ERROR_TYPE = /^[a-z][a-z0-9_]{0,31}$/;
const OTHER = 'other';
const METHODS: ReadonlySet<string> = new Set(HUB_METHODS);
const DECISIONS: ReadonlySet<string> = new Set(HUB_DECISIONS);

export class ServerTotals {
  readonly #servers = new Map<string, ServerTotal>();
  /** Who has a name of its own; for good, since a counter must not go back. */
  readonly #named: Set<string>;

  constructor(named = new Set<string>()) {
    this.#named = named;
  }

  /** By the name that is shown, in the order of appearance. */
  get servers(): ReadonlyMap<string, ServerTotal> {
    return this.#servers;
  }

  /** Servers that run now. */
  get active(): number {
    let active = 0;
    for (const { states } of this.#servers.values()) active += states.get('running') ?? 0;
    return active;
  }

  add(serverId: string, counts: ShimCounts): void {
    const { profile, messages, decisions, framing_errors, approvals } = counts;
    const total = this.#of(serverId);
    for (const { direction, method, count } of messages) {
      bump(total.messages[direction], METHODS.has(method) ? method : OTHER, count);
    }
    for (const { decision, count } of decisions) {
      bump(total.decisions[profile], DECISIONS.has(decision) ? decision : OTHER, count);
    }
    for (const { error_type, count } of framing_errors) {
      bump(total.framingErrors, errorLabel(total, error_type), count);
    }
    total.approvals.count += approvals?.count ?? 0;
    total.approvals.waitedMs += approvals?.waited_ms ?? 0;
  }

  addState(serverId: string, state: ServerState): void {
    bump(this.#of(serverId).states, state, 1);
  }

  copy(): ServerTotals {
    const copy = new ServerTotals(this.#named);
    for (const [name, total] of this.#servers) copy.#servers.set(name, structuredClone(total));
    return copy;
  }

  #of(serverId: string): ServerTotal {
    const name = visible(serverId, SERVER_LENGTH_MAX);
    if (this.#named.size < SERVERS_MAX) this.#named.add(name);
    const shown = this.#named.has(name) ? name : OTHER_SERVERS;
    const total = this.#servers.get(shown) ?? nothing();
    this.#servers.set(shown, total);
    return total;
  }
}

function nothing(): ServerTotal {
  return {
    messages: { agent_to_server: new Map(), server_to_agent: new Map() },
    decisions: { production: new Map(), development: new Map() },
    framingErrors: new Map(),
    states: new Map(),
    approvals: { count: 0, waitedMs: 0 },
  };
}

function errorLabel({ framingErrors }: ServerTotal, errorType: string): string {
  if (framingErrors.has(errorType)) return errorType;
  const isTaken = ERROR_TYPE.test(errorType) && framingErrors.size < ERROR_TYPES_MAX;
  return isTaken ? errorType : OTHER;
}

function bump<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
