// Compares the runs of the suite: what fails directly, and what fails only through `sub`.
import type { Mode, Revision } from './suite.ts';

export const WAYS = ['direct', 'serve', 'shim'] as const;
export type Way = (typeof WAYS)[number];

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface Outcome {
  readonly scenario: string;
  readonly checks: readonly Check[];
  /** What the fixture client wrote to stderr. */
  readonly said: string;
}

/** A scenario that is not clean for a reason that is not ours. */
export interface KnownFailure {
  readonly mode: Mode;
  readonly scenario: string;
  /** Only these checks, which a run through `sub` need not reach; else the whole scenario, which fails directly. */
  readonly notReached?: readonly string[];
  readonly reason: string;
}

export interface Row {
  readonly mode: Mode;
  readonly revision: Revision;
  readonly scenario: string;
  readonly passed: number;
  /** The problems of each way that was taken. */
  readonly problems: Partial<Record<Way, readonly string[]>>;
  /** What the fixture client said of them. */
  readonly said: Partial<Record<Way, string>>;
  readonly known?: KnownFailure;
}

export interface Leg {
  readonly mode: Mode;
  readonly revision: Revision;
  readonly outcomes: Partial<Record<Way, readonly Outcome[]>>;
}

export function rowsOf(leg: Leg, known: readonly KnownFailure[]): readonly Row[] {
  const { mode, revision, outcomes } = leg;
  const direct = outcomes.direct ?? [];
  return direct.map((reference) => {
    const { scenario } = reference;
    const entries = known.filter((each) => each.mode === mode && each.scenario === scenario);
    const entry = entries.find(({ notReached }) => notReached === undefined);
    const excused = new Set(entries.flatMap(({ notReached = [] }) => notReached));
    // Through `sub` a known failure need not run: there is nothing to compare it with.
    const taken = WAYS.filter(
      (way) =>
        outcomes[way] !== undefined &&
        (entry === undefined || outcomes[way].some((each) => each.scenario === scenario)),
    );
    const found = taken.map((way) => {
      const outcome = outcomes[way]?.find((each) => each.scenario === scenario);
      const problems = problemsOf(outcome, reference).filter(
        (problem) => !isExcused(problem, excused),
      );
      return { way, problems, said: outcome?.said ?? '' };
    });
    return {
      mode,
      revision,
      scenario,
      passed: succeeded(reference).size,
      problems: Object.fromEntries(found.map(({ way, problems }) => [way, problems])),
      said: Object.fromEntries(found.map(({ way, said }) => [way, said])),
      ...(entry && { known: entry }),
    };
  });
}

/** What failed, and what the direct run reached and this one did not. */
export function problemsOf(outcome: Outcome | undefined, direct: Outcome): readonly string[] {
  if (outcome === undefined) return ['the scenario did not run'];
  const failed = outcome.checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, errorMessage }) => `${id}: ${errorMessage ?? status}`);
  const seen = new Set(outcome.checks.map(({ id }) => id));
  const missing = [...succeeded(direct)].filter((id) => !seen.has(id));
  const problems = [...failed, ...missing.map((id) => `${id}: ${NOT_REACHED}`)];
  return problems.map((problem) => problem.replaceAll(/\s+/g, ' '));
}

const NOT_REACHED = 'not reached, the direct run does';

function isExcused(problem: string, excused: ReadonlySet<string>): boolean {
  return problem.endsWith(NOT_REACHED) && excused.has(idOf(problem));
}

function succeeded({ checks }: Outcome): ReadonlySet<string> {
  return new Set(checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id));
}

export interface Verdict {
  /** Problems of rows that are not known. */
  readonly unexpected: readonly Row[];
  /** Known failures that no longer fail directly. */
  readonly stale: readonly KnownFailure[];
  /** Failures through `sub` beyond those of the direct run, by way. */
  readonly added: Partial<Record<Way, number>>;
  readonly isClean: boolean;
}

export function judge(rows: readonly Row[]): Verdict {
  const unexpected = rows.filter(
    ({ known, problems }) => known === undefined && WAYS.some((way) => isFailing(problems[way])),
  );
  const stale = rows.flatMap(({ known, problems }) =>
    known !== undefined && !isFailing(problems.direct) ? [known] : [],
  );
  const added = WAYS.filter((way) => rows.some(({ problems }) => problems[way] !== undefined)).map(
    (way) => [way, sum(rows.map((row) => addedBy(row, way)))] as const,
  );
  const isClean =
    unexpected.length === 0 && stale.length === 0 && added.every(([, count]) => count === 0);
  return { unexpected, stale, added: Object.fromEntries(added), isClean };
}

function addedBy({ problems }: Row, way: Way): number {
  const direct = new Set(problems.direct?.map(idOf));
  return problems[way]?.filter((problem) => !direct.has(idOf(problem))).length ?? 0;
}

function idOf(problem: string): string {
  return problem.split(': ')[0] ?? problem;
}

export function isFailing(problems: readonly string[] | undefined): boolean {
  return problems !== undefined && problems.length > 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
