// The metrics of servers for Prometheus, each under our name and under the one that the wrapper's
// specification gave it.
import { SERVER_STATES, type ServerTotal, type ServerTotals } from './server-totals.ts';

const PREFIXES = ['subluminal_', 'thoughtgate_stdio_'] as const;

interface Sample {
  /** What the name of the family goes on with, as in `_count`. */
  readonly suffix?: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function serverMetrics(totals: ServerTotals): readonly string[] {
  const servers = [...totals.servers];
  const each = (samplesOf: (total: ServerTotal) => readonly Sample[]): readonly Sample[] =>
    servers.flatMap(([server_id, total]) =>
      samplesOf(total).map(({ labels, ...rest }) => ({
        ...rest,
        labels: { server_id, ...labels },
      })),
    );
  const families: readonly Family[] = [
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
        [...framingErrors].map(([error_type, value]) => ({ labels: { error_type }, value })),
      ),
    },
    {
      name: 'server_state',
      type: 'gauge',
      help: 'Servers in this state.',
      samples: each(({ states }) =>
        SERVER_STATES.map((state) => ({ labels: { state }, value: states.get(state) ?? 0 })),
      ),
    },
    {
      name: 'approval_latency_seconds',
      type: 'summary',
      help: 'How long calls have waited for a person.',
      samples: each(({ approvals }) => [
        { suffix: '_sum', labels: {}, value: approvals.waitedMs / 1_000 },
        { suffix: '_count', labels: {}, value: approvals.count },
      ]),
    },
    {
      name: 'active_servers',
      type: 'gauge',
      help: 'Servers that run now.',
      samples: [{ labels: {}, value: totals.active }],
    },
  ];
  return PREFIXES.flatMap((prefix) => families.flatMap((family) => linesOf(prefix, family)));
}

/** Counts by two labels. */
function nested(
  outer: string,
  inner: string,
  counts: { readonly [name: string]: ReadonlyMap<string, number> },
): readonly Sample[] {
  return Object.entries(counts).flatMap(([first, values]) =>
    [...values].map(([second, value]) => ({
      labels: { [outer]: first, [inner]: second },
      value,
    })),
  );
}

function linesOf(prefix: string, { name, type, help, samples }: Family): readonly string[] {
  const full = `${prefix}${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...samples.map(({ suffix = '', labels, value }) => `${full}${suffix}${shown(labels)} ${value}`),
  ];
}

function shown(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** As the text format wants it. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
