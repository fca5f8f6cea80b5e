// The metrics of a hub for Prometheus. Labels come from fixed lists, and from the names of servers: no
// name of a tool or a run gets in, so the text stays small and reveals nothing of the calls.
import type { Hub } from './hub.ts';
import { type Family, familyLines, labelText } from './metrics-text.ts';

const CALLS = ['forward', 'deny', 'needs_policy'] as const;
const STATUSES = [400, 401, 403, 404, 405, 408, 409, 413, 431, 500, 503] as const;
const SHIM_STATES = ['live', 'silent', 'left'] as const;
const BOUNDS_S = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1] as const;
/** Servers have their metrics under our name, and under that of the wrapper's specification. */
const SERVER_PREFIXES = ['subluminal_', 'thoughtgate_stdio_'] as const;

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

  text(hub: Pick<Hub, 'shims' | 'terminated'>): string {
    const servers = hub.shims.totals().families();
    const lines = [
      ...this.#families(hub).flatMap((family) => familyLines('subluminal_hub_', family)),
      ...SERVER_PREFIXES.flatMap((prefix) => servers.flatMap((one) => familyLines(prefix, one))),
    ];
    return `${lines.join('\n')}\n`;
  }

  #families(hub: Pick<Hub, 'shims' | 'terminated'>): readonly Family[] {
    const shims = hub.shims.list();
    const inState = (wanted: string) => shims.filter(({ state }) => state === wanted).length;
    return [
      {
        name: 'calls_total',
        type: 'counter',
        help: 'Calls that were evaluated.',
        samples: CALLS.map((decision) => [labelText({ decision }), this.#calls.get(decision) ?? 0]),
      },
      {
        name: 'evaluate_seconds',
        type: 'histogram',
        help: 'From a whole request to its answer.',
        samples: this.#histogram(),
      },
      {
        name: 'shims',
        type: 'gauge',
        help: 'Shims that the hub has heard of.',
        samples: SHIM_STATES.map((state) => [labelText({ state }), inState(state)]),
      },
      {
        name: 'terminated',
        type: 'gauge',
        help: 'Whether the run has been ended by a rule.',
        samples: [['', hub.terminated() === null ? 0 : 1]],
      },
      {
        name: 'refused_requests_total',
        type: 'counter',
        help: 'Requests that got no answer but an error.',
        samples: STATUSES.map((status) => [labelText({ status }), this.#refused.get(status) ?? 0]),
      },
    ];
  }

  #histogram(): Family['samples'] {
    let below = 0;
    const buckets = BOUNDS_S.map((le, index) => {
      below += this.#buckets[index] ?? 0;
      return [`_bucket${labelText({ le })}`, below] as const;
    });
    return [
      ...buckets,
      [`_bucket${labelText({ le: '+Inf' })}`, this.#count],
      ['_sum', this.#secondsTotal],
      ['_count', this.#count],
    ];
  }
}
