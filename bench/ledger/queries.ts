// Questions as people ask them of a ledger, each with other values every time.
import type { CallFilter, StoreReader } from '@subluminal/plane/ledger';
import { percentile } from '../measure.ts';

export interface Asked {
  readonly name: string;
  readonly times: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const TIMES = 100;
const TEXT_TIMES = 20;
const WORDS = [
  'import',
  'const',
  'describe',
  'Promise',
  'the ledger',
  'readonly',
  'await',
  'return',
];

export async function askQueries(reader: StoreReader): Promise<readonly Asked[]> {
  const { rows: runs } = await reader.runs({}, { limit: 1_000 });
  const { rows: calls } = await reader.calls({}, { limit: 1_000 });
  const some = <T>(all: readonly T[], index: number) => all[(index * 37) % all.length];
  const toolName = (index: number) => ['read_file', 'write_file', 'run_command'][index % 3] ?? '';
  const ask = (filter: (index: number) => CallFilter) => (index: number) =>
    reader.calls(filter(index), { limit: 50 });
  const one = (index: number) => {
    const call = some(calls, index);
    return reader.call(call?.run_id ?? '', call?.call_id ?? '');
  };
  return [
    await timed(
      'by run',
      TIMES,
      ask((index) => ({ runId: some(runs, index)?.run_id ?? '' })),
    ),
    await timed(
      'by tool',
      TIMES,
      ask((index) => ({ toolName: toolName(index) })),
    ),
    await timed(
      'by decision',
      TIMES,
      ask((index) => ({ decision: 'BLOCK', fromMs: index })),
    ),
    await timed('one call', TIMES, one),
    await timed('one run', TIMES, (index) => reader.run(some(runs, index)?.run_id ?? '')),
    await timed(
      'by text',
      TEXT_TIMES,
      ask((index) => ({ text: some(WORDS, index) ?? '' })),
    ),
    await timed(
      'by text that is rare',
      TEXT_TIMES,
      ask((index) => ({ text: `qzx${index}jvw` })),
    ),
  ];
}

async function timed(
  name: string,
  times: number,
  question: (index: number) => Promise<unknown>,
): Promise<Asked> {
  const tookMs = new Float64Array(times);
  for (let index = 0; index < times; index++) {
    const startMs = performance.now();
    await question(index);
    tookMs[index] = performance.now() - startMs;
  }
  const sorted = tookMs.toSorted();
  return { name, times, p50Ms: percentile(sorted, 50), p99Ms: percentile(sorted, 99) };
}
