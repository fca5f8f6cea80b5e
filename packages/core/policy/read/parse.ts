// A bundle as written → a bundle that fits contract B, or everything that is wrong with it.
import {
  BUNDLE,
  type Bundle,
  check,
  isObject,
  RULE,
  type Rule,
  withDefaults,
} from '@subluminal/contracts';
import { compileGlob } from '../../patterns/glob.ts';
import {
  type Finding,
  formatPath,
  type Path,
  type Position,
  PROBLEMS_MAX,
  type Problem,
  sorted,
} from '../../source/problem.ts';
import { readSource, type Source, type SourceTree } from '../../source/read-source.ts';
import { follow, sourceOffset, type Tree, valueOf } from '../../source/tree.ts';
import type { ParseWhen } from '../match/when-survey.ts';
import { type PatternChecks, type PatternFault, patternFindings } from './check-patterns.ts';
import { duplicateRuleIds, type RuleAt, ruleFindings } from './check-rules.ts';
import { sectionFindings, selectorFindings } from './check-sections.ts';
import { conditionWords } from './explain-condition.ts';
import { explainMismatches } from './explain-mismatch.ts';

/** Where a part of a bundle stands; `inside` goes into the string at that place. */
export type PositionOf = (path: Path, inside?: number) => Position;

export interface ParsedBundle {
  readonly ok: true;
  readonly bundle: Bundle;
  /** Advice only: none of them is an error. */
  readonly problems: readonly Problem[];
  /** Where a part of the bundle stands in the file; the nearest part above if it is not there. */
  readonly positionOf: PositionOf;
}

export type ParseResult =
  | ParsedBundle
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface ParseOptions {
  readonly checks: PatternChecks;
}

/** Reads a bundle from YAML or JSON. It returns problems for any input, and never throws. */
export function parseBundle(source: Source, { checks }: ParseOptions): ParseResult {
  const read = readSource(source);
  if (!read.ok) return read;
  const value = withDefaults(BUNDLE, valueOf(read.tree));
  // Each suggestion costs something, and a hostile bundle may have tens of thousands.
  const mismatches = check(BUNDLE, value).slice(0, PROBLEMS_MAX);
  const findings = [
    ...explainMismatches(mismatches, read.tree),
    ...selectorFindings(value),
    ...beyondShape(value, checks),
    ...sectionFindings(value, (glob) => checks.glob(glob)),
  ];
  if (!isBundle(value, findings)) {
    const problems = findings.map((finding) => toProblem(finding, source.file, read));
    return { ok: false, problems: sorted(problems) };
  }
  const positionOf: PositionOf = (path, inside) => {
    const { tree, whole } = follow(read.tree, path);
    return read.positionAt(offsetIn(tree, whole ? inside : undefined));
  };
  return { ok: true, bundle: value, problems: [], positionOf };
}

/** Rules of the right shape are looked at even when others are wrong: one pass, all errors. */
function beyondShape(value: unknown, checks: PatternChecks): readonly Finding[] {
  const rules: unknown = isObject(value) ? value['rules'] : undefined;
  if (!Array.isArray(rules)) return [];
  const fitting: RuleAt[] = [];
  for (const [index, rule] of rules.entries()) {
    if (isRule(rule)) fitting.push({ rule, path: ['rules', index] });
  }
  return [
    ...duplicateRuleIds(rules),
    ...ruleFindings(fitting),
    ...patternFindings(fitting, checks),
  ];
}

function isRule(value: unknown): value is Rule {
  return check(RULE, value).length === 0;
}

/** Everything has been looked at, and nothing was found. */
function isBundle(_value: unknown, findings: readonly Finding[]): _value is Bundle {
  return findings.length === 0;
}

function toProblem(
  finding: Finding,
  file: string,
  { tree: root, positionAt }: SourceTree,
): Problem {
  const { code, path, message, fix } = finding;
  const { tree, keyOffset, whole } = follow(root, path);
  const offset = offsetIn(tree, whole ? finding.inside : undefined);
  const position = positionAt(finding.atKey === true ? keyOffset : offset);
  return { level: 'error', code, file, position, path: formatPath(path), message, fix };
}

function offsetIn(tree: Tree, inside: number | undefined): number {
  return inside === undefined || tree.kind !== 'scalar' ? tree.offset : sourceOffset(tree, inside);
}

// The engines that will run a bundle's patterns, as the checks that its parser wants.

interface PatternEngines extends PatternChecks {
  readonly parseWhen: ParseWhen;
}

/** Loads the engines; they are heavy, so only readers of bundles as written load them. */
export async function loadPatternChecks(): Promise<PatternEngines> {
  const [{ compileRegex }, { compileWhen, parseWhen }] = await Promise.all([
    import('../../patterns/regex.ts'),
    import('../match/when.ts'),
  ]);
  return {
    glob: (source) => faultOf(compileGlob(source)),
    regex: (source) => faultOf(compileRegex(source)),
    when: (source) => {
      const compiled = compileWhen(source);
      return compiled.ok ? undefined : { ...compiled, ...conditionWords(source, compiled) };
    },
    parseWhen,
  };
}

/**
 * Parses a bundle as it is, and once more with the engines if it has patterns for them: a bundle
 * that only matches names never loads them.
 */
export async function parseWithEngines(source: Source): Promise<ParseResult> {
  let isAsked = false;
  const asked = (): undefined => {
    isAsked = true;
  };
  const glob: PatternChecks['glob'] = (pattern) => faultOf(compileGlob(pattern));
  const parsed = parseBundle(source, { checks: { glob, regex: asked, when: asked } });
  return isAsked ? parseBundle(source, { checks: await loadPatternChecks() }) : parsed;
}

function faultOf(
  compiled: { readonly ok: true } | (PatternFault & { readonly ok: false }),
): PatternFault | undefined {
  return compiled.ok ? undefined : compiled;
}
