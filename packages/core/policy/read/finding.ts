// What reading finds, before it is put into words with a file, a line and a column.
import type { SubCode } from '@subluminal/contracts';
import type { Position, Problem } from '../problem.ts';
import { shown } from './quote.ts';

export type Path = readonly (string | number)[];

/** The table of codes is a contract; what is not in it cannot be reported. */
export type BundleCode = Extract<SubCode, `SUB_BUNDLE_${string}`>;

export interface Remark {
  readonly code: BundleCode;
  readonly message: string;
  readonly fix: string;
}

/** Something wrong at a place in the text. */
export interface Fault extends Remark {
  readonly offset: number;
}

/** Something wrong at a place in the bundle. */
export interface Finding extends Remark {
  readonly path: Path;
  /** Set when the key is wrong, not the value behind it. */
  readonly atKey?: boolean;
  /** How far inside the string at `path`, where a pattern knows that. */
  readonly inside?: number;
}

export const PROBLEMS_MAX = 100;
const PATH_LENGTH_MAX = 400;

/** In the order of the file, and no more than a person would read. */
export function sorted(problems: readonly Problem[]): readonly Problem[] {
  const byPosition = problems.toSorted((a, b) => compare(a.position, b.position));
  return byPosition.slice(0, PROBLEMS_MAX);
}

function compare(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column;
}

/** A path as people write it: `rules[3].effect.budget.scope`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_]\w*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `["${shown(step.replaceAll('"', '\\"'))}"]`;
  }
  if (text.length <= PATH_LENGTH_MAX) return text;
  return `${text.slice(0, PATH_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
