// What Prometheus may know of a hub. Labels come from fixed lists, and from the names of servers:
// no name of a tool or a run gets in, so the text stays small and tells nothing of the calls.
import { serverMetrics } from './server-metrics.ts';
import type { Hub } from './types.ts';

const CALLS = ['forward', 'deny', 'needs_policy'] as const;
const STATUSES = [400, 401, 403, 404, 405, 408, 409, 413, 431, 500, 503] as const;
const SHIM_STATES = ['live', 'silent', 'left'] as const;
const BOUNDS_S = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1] as const;

export type CallLabel = (typeof CALLS)[number];
export type RefusalStatus = (typeof STATUSES)[number];

export class Metrics {
  readonly #calls = new Map<CallLabel, number>();
  readonly #refused = new Map<RefusalStatus, number>();
  readonly #buckets = BOUNDS_S.map(() => 0);
  #secondsTotal = 0;
  #count = 0;

  evaluated(label: CallLabel, seconds: number): void {
    this.#calls.set(label, (this.#calls.get(label) ?? 0) + 1);
    this.#secondsTotal += seconds;
    this.#count++;
    const index = BOUNDS_S.findIndex((bound) => seconds <= bound);
    if (index >= 0) this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
  }

  refused(status: RefusalStatus): void {
    this.#refused.set(status, (this.#refused.get(status) ?? 0) + 1);
  }

  text(hub: Pick<Hub, 'shims' | 'terminated' | 'totals'>): string {
    const shims = hub.shims();
    const inState = (wanted: string) => shims.filter(({ state }) => state === wanted).length;
    const lines = [
      ...family('calls_total', 'counter', 'Calls that were evaluated.'),
      ...CALLS.map((label) => sample('calls_total', { decision: label }, this.#calls.get(label))),
      ...this.#histogram(),
      ...family('shims', 'gauge', 'Shims that the hub has heard of.'),
      ...SHIM_STATES.map((state) => sample('shims', { state }, inState(state))),
      ...family('terminated', 'gauge', 'Whether the run has been ended by a rule.'),
      sample('terminated', {}, hub.terminated() === null ? 0 : 1),
      ...family('refused_requests_total', 'counter', 'Requests that got no answer but an error.'),
      ...STATUSES.map((status) =>
        sample('refused_requests_total', { status: String(status) }, this.#refused.get(status)),
      ),
      ...serverMetrics(hub.totals()),
    ];
    return `${lines.join('\n')}\n`;
  }

  #histogram(): readonly string[] {
    const name = 'evaluate_seconds';
    let below = 0;
    const buckets = BOUNDS_S.map((bound, index) => {
      below += this.#buckets[index] ?? 0;
      return sample(`${name}_bucket`, { le: String(bound) }, below);
    });
    return [
      ...family(name, 'histogram', 'From a whole request to its answer.'),
      ...buckets,
      sample(`${name}_bucket`, { le: '+Inf' }, this.#count),
      sample(`${name}_sum`, {}, this.#secondsTotal),
      sample(`${name}_count`, {}, this.#count),
    ];
  }
}

function family(name: string, type: string, help: string): readonly string[] {
  return [`# HELP subluminal_hub_${name} ${help}`, `# TYPE subluminal_hub_${name} ${type}`];
}

function sample(name: string, labels: { readonly [label: string]: string }, value = 0): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  const shown = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `subluminal_hub_${name}${shown} ${value}`;
}
