// A problem of a bundle, with its place and its fix.
import type { SubCode } from '@subluminal/contracts';
import { harmless, visible } from '../text/visible.ts';

/** A place in a source file; lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  /** `error` keeps a bundle from compiling; the others are advice. */
  readonly level: 'error' | 'warning' | 'note';
  /** A stable code: `SUB_BUNDLE_*` for errors, `SUB_LINT_*` for advice. */
  readonly code: SubCode;
  readonly file: string;
  readonly position: Position;
  /** Where in the bundle, like `rules[3].effect.budget.scope`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
  /** The likely fix, as an instruction. */
  readonly fix: string;
}

/** One line a person can act on and an editor can jump to. */
export function formatProblem(problem: Problem): string {
  const { file, position, level, message, fix, code } = problem;
  const place = `${harmless(file)}:${position.line}:${position.column}`;
  const end = /[.?!]$/.test(message) ? '' : '.';
  return `${place}: ${level}: ${message}${end} ${fix} [${code}]`;
}

// What reading finds, before it gets a file, a line and a column.

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
  /** Which error of the yaml package it was. */
  readonly yamlCode?: string;
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
  const byPosition = problems.toSorted(({ position: a }, { position: b }) => {
    return a.line - b.line || a.column - b.column;
  });
  return byPosition.slice(0, PROBLEMS_MAX);
}

/** A path as people write it: `rules[3].effect.budget.scope`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_]\w*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `["${visible(step.replaceAll('"', '\\"'), 60)}"]`;
  }
  if (text.length <= PATH_LENGTH_MAX) return text;
  return `${text.slice(0, PATH_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

export type PositionAt = (offset: number) => Position;

/**
 * Finds the line and column of any offset in a text; both count from 1. What is missing at the
 * end is missing behind the last line that shows something.
 */
export function indexLines(text: string): PositionAt {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const end = text.trimEnd().length;
  return (offset) => {
    const wanted = Math.min(Math.max(0, offset), end);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: wanted - (starts[low] ?? 0) + 1 };
  };
}

/** A field that another one needs. */
export function missingFinding(path: Path, message: string, fix: string): Finding {
  return { code: 'SUB_BUNDLE_MISSING_FIELD', path, message, fix };
}

/** Fields that contradict each other. */
export function conflictFinding(path: Path, message: string, fix: string): Finding {
  return { code: 'SUB_BUNDLE_CONFLICT', path, message, fix };
}
