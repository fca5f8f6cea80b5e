// The metrics of the servers of a run, and the text format of Prometheus.
import { SERVER_STATES, type ServerTotal, type ServerTotals } from './server-totals.ts';

type Labels = { readonly [label: string]: string | number };
/** Labels, a value, and what the name of the family goes on with, as in `_count`. */
type Sample = readonly [Labels, number, string?];

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function serverFamilies(totals: ServerTotals): readonly Family[] {
  const each = (samplesOf: (total: ServerTotal) => readonly Sample[]): readonly Sample[] =>
    [...totals.servers].flatMap(([server_id, total]) =>
      samplesOf(total).map(([labels, ...rest]): Sample => [{ server_id, ...labels }, ...rest]),
    );
  return [
    {
      name: 'messages_total',
      type: 'counter',
      help: 'Messages that came in.',
      samples: each(({ messages }) => nested('direction', 'method', messages)),
    },
    {
      name: 'governance_decisions_total',
      type: 'counter',
      help: 'Tool calls that were decided.',
      samples: each(({ decisions }) => nested('profile', 'decision', decisions)),
    },
    {
      name: 'framing_errors_total',
      type: 'counter',
      help: 'Messages that broke a rule of the protocol.',
      samples: each(({ framingErrors }) =>
        [...framingErrors].map(([error_type, value]) => [{ error_type }, value]),
      ),
    },
    {
      name: 'server_state',
      type: 'gauge',
      help: 'Servers in this state.',
      samples: each(({ states }) =>
        SERVER_STATES.map((state) => [{ state }, states.get(state) ?? 0]),
      ),
    },
    {
      name: 'approval_latency_seconds',
      type: 'summary',
      help: 'How long calls have waited for a person.',
      samples: each(({ approvals }) => [
        [{}, approvals.waitedMs / 1_000, '_sum'],
        [{}, approvals.count, '_count'],
      ]),
    },
    {
      name: 'active_servers',
      type: 'gauge',
      help: 'Servers that run now.',
      samples: [[{}, totals.active]],
    },
  ];
}

/** Counts by two labels. */
function nested(
  outer: string,
  inner: string,
  counts: { readonly [name: string]: ReadonlyMap<string, number> },
): readonly Sample[] {
  return Object.entries(counts).flatMap(([first, values]) =>
    [...values].map(([second, value]): Sample => [{ [outer]: first, [inner]: second }, value]),
  );
}

export function familyLines(prefix: string, family: Family): readonly string[] {
  const name = `${prefix}${family.name}`;
  return [
    `# HELP ${name} ${family.help}`,
    `# TYPE ${name} ${family.type}`,
    ...family.samples.map(
      ([labels, value, suffix = '']) => `${name}${suffix}${labelText(labels)} ${value}`,
    ),
  ];
}

/** Escapes values as the text format demands. */
function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => {
    const text = String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return `${label}="${text.replaceAll('\n', '\\n')}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
