// All rules over all files: text in, findings out.
import { emptyFile, emptyPackages } from './rules/content.ts';
import { focus } from './rules/focus.ts';
import { layers } from './rules/layers.ts';
import { lockfile } from './rules/lockfile.ts';
import { names } from './rules/names.ts';
import { purity } from './rules/purity.ts';
import { shape } from './rules/shape.ts';
import { size } from './rules/size.ts';
import { traces } from './rules/traces.ts';
import { type FileText, type Finding, type Rule, readSource } from './source.ts';

const RULES: readonly Rule[] = [
  layers,
  purity,
  shape,
  size,
  names,
  traces,
  focus,
  emptyFile,
  lockfile,
];

export function tidy(files: readonly FileText[]): readonly Finding[] {
  const found = files.flatMap((file) => {
    const source = readSource(file);
    return RULES.flatMap((rule) => rule(source));
  });
  return [...found, ...emptyPackages(files)].toSorted(
    (left, right) => compare(left.path, right.path) || left.line - right.line,
  );
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** One line that an editor can jump to. */
export function formatFinding({ path, line, rule, message }: Finding): string {
  return `${path}:${line}: ${rule}: ${message}`;
}
