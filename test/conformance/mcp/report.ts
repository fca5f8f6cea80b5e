// What `npm run conformance` prints.
import { isFailing, type Row, type Verdict, WAYS, type Way } from './judge.ts';

const HEADER = ['mode', 'revision', 'scenario', 'checks', ...WAYS];

export function table(rows: readonly Row[]): string {
  const lines = [HEADER, ...rows.map(cells)];
  const widths = HEADER.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells(row: Row): readonly string[] {
  const { mode, revision, scenario, passed } = row;
  return [mode, revision, scenario, String(passed), ...WAYS.map((way) => cell(row, way))];
}

function cell({ problems, known }: Row, way: Way): string {
  const found = problems[way];
  if (found === undefined) return '-';
  if (!isFailing(found)) return 'ok';
  return known === undefined ? `${found.length} failed` : `${found.length} known`;
}

function failureLines(row: Row, way: Way): readonly string[] {
  const { mode, revision, scenario, problems, said } = row;
  const found = problems[way] ?? [];
  const words = said[way]?.trim().split('\n').at(-1) ?? '';
  const heard = found.length > 0 && words !== '' ? [`the client said: ${words}`] : [];
  return [...found, ...heard].map(
    (line) => `conformance: ${mode} ${revision} ${scenario} (${way}): ${line}`,
  );
}

export function verdictText({ unexpected, stale, added }: Verdict): string {
  const failures = unexpected.flatMap((row) => WAYS.flatMap((way) => failureLines(row, way)));
  const outdated = stale.map(
    ({ mode, scenario }) =>
      `conformance: ${mode} ${scenario} passes directly: remove it from known-failures.ts`,
  );
  const sums = WAYS.filter((way) => way !== 'direct' && added[way] !== undefined).map(
    (way) => `sub ${way} minus direct = ${added[way]}`,
  );
  return [...failures, ...outdated, `conformance: ${['done', ...sums].join(', ')}`].join('\n');
}
