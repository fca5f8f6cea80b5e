// The problems of a gateway's configuration for people, without the secrets that may stand beside them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor } from '@subluminal/core/scan';
import type { Problem } from '@subluminal/core/source';
import { attempt } from '@subluminal/plane/os';
import { renderProblem } from '../policy/render-problem.ts';
import type { Io } from '../terminal/io.ts';

/** Every problem with its line, unless that line holds a secret. */
export function renderConfigProblems(problems: readonly Problem[], dir: string, io: Io): string {
  const { colors, columns } = io.out;
  const secretLines = new Set(problems.filter(isSecret).map(lineId));
  const { plain } = createRedactor({});
  const texts = new Map<string, readonly string[]>();
  return problems
    .map((problem) => {
      const { file, position } = problem;
      const all = texts.get(file) ?? linesIn(join(dir, file));
      texts.set(file, all);
      const line = all[position.line - 1] ?? '';
      const isShown = !secretLines.has(lineId(problem)) && plain(line) === line;
      const lines = isShown ? all : [];
      return renderProblem({ ...problem, file: join(dir, file) }, { lines, colors, columns });
    })
    .join('');
}

function isSecret({ code }: Problem): boolean {
  return code === 'SUB_GATEWAY_SECRET';
}

function lineId({ file, position }: Problem): string {
  return `${file}:${position.line}`;
}

/** For showing only; none for a file that is not there. */
function linesIn(path: string): readonly string[] {
  return attempt(() => readFileSync(path, 'utf8'))?.split(/\r?\n/) ?? [];
}
