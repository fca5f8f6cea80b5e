// Contestants that take turns within one run, and the table of what they took: beside nobody in between, and beside
// the barest one.
import { goalLine, table } from '../measure.ts';
import { addResult, type Result, summaryOf } from './lane.ts';

interface ComparedLane<K extends string> {
  readonly name: string;
  readonly results: Readonly<Record<K, Result>>;
  round(kind: K, requests: number): Promise<Result>;
}

export interface Comparison<K extends string> {
  readonly bench: string;
  readonly kinds: readonly K[];
  /** What a kind, and one request, are called. */
  readonly words: { readonly kind: string; readonly request: string };
  /** The names of the lane that is measured, of the barest one, and of that without anybody in between. */
  readonly names: { readonly own: string; readonly floor: string; readonly direct: string };
  readonly cpuGoalMax: number;
}

interface Rounds {
  readonly warmup: number;
  readonly counted: number;
  readonly requests: number;
}

export async function takeTurns<K extends string>(
  lanes: readonly ComparedLane<K>[],
  kinds: readonly K[],
  { warmup, counted, requests }: Rounds,
): Promise<void> {
  for (let count = -warmup; count < counted; count++) {
    for (const kind of kinds) {
      for (const lane of lanes) {
        const part = await lane.round(kind, requests);
        if (count >= 0) addResult(lane.results[kind], part);
      }
    }
  }
}

export function comparisonText<K extends string>(
  lanes: readonly ComparedLane<K>[],
  { bench, kinds, words, names, cpuGoalMax }: Comparison<K>,
  json: boolean,
): string {
  const rows = kinds.flatMap((kind) =>
    lanes.map(({ name, results }) => ({ kind, name, ...summaryOf(results[kind]) })),
  );
  if (json) return `${JSON.stringify({ bench, rows })}\n`;
  const rowOf = (kind: string, name: string) =>
    rows.find((row) => row.kind === kind && row.name === name) ?? rows[0];
  const lines = rows.map((row) => {
    const direct = rowOf(row.kind, names.direct);
    const floor = rowOf(row.kind, names.floor);
    return [
      row.kind,
      row.name,
      row.cpuMicros.toFixed(0),
      (row.cpuMicros / (floor?.cpuMicros ?? Number.NaN)).toFixed(2),
      row.perSecond.toFixed(0),
      row.p50Ms.toFixed(2),
      (row.p50Ms - (direct?.p50Ms ?? Number.NaN)).toFixed(2),
      row.p99Ms.toFixed(2),
      (row.p99Ms - (direct?.p99Ms ?? Number.NaN)).toFixed(2),
    ];
  });
  const { kind: title, request } = words;
  const head = [title, 'in between', `CPU µs/${request}`, `× ${names.floor}`, `${request}s/s`];
  const times = ['p50 ms', 'added', 'p99 ms', 'added'];
  const goals = kinds.map((kind) => {
    const cpu = (name: string) => rowOf(kind, name)?.cpuMicros ?? Number.NaN;
    const what = `${kind}: CPU of ${names.own}, × ${names.floor}`;
    return goalLine(what, cpu(names.own) / cpu(names.floor), cpuGoalMax);
  });
  return `${table([[...head, ...times], ...lines])}\n${goals.join('')}`;
}
