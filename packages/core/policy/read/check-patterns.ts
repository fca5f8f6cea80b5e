// Globs, regexes and conditions are checked by the engines that will run them. They are passed
// in, so that a bundle without patterns is read without loading any of them.

import type { Match } from '@subluminal/contracts';
import { regexSize, regexSource } from '../../patterns/regex-size.ts';
import { type BundleCode, type Finding, type Path, PROBLEMS_MAX } from '../../source/problem.ts';
import { quote, visible } from '../../text/visible.ts';
import { formOf, PATH_FIELDS, type PathForm, pathPatternFault } from '../match/path-patterns.ts';
import type { RuleAt } from './check-rules.ts';

/** Why a pattern is invalid, with the place and the fix where they are known. */
export interface PatternFault {
  readonly message: string;
  readonly offset?: number;
  readonly fix?: string;
}

export interface PatternChecks {
  regex(source: string): PatternFault | undefined;
  glob(source: string): PatternFault | undefined;
  when(source: string): PatternFault | undefined;
}

const TEXT_FIELDS = ['server_name', 'tool_name', 'provider', 'model', 'any_arg'] as const;
/** Compiling one takes up to some milliseconds, and a bundle has room for tens of thousands. */
const COSTLY_MAX = 1_000;
/** An expression of more parts than this counts as several. */
const COSTLY_PARTS = 200;
const REASON_LENGTH_MAX = 200;

type PatternForm = keyof PatternChecks | PathForm;
interface Pattern {
  readonly form: PatternForm;
  readonly source: string;
  readonly path: Path;
  /** The source as the engine gets it, where that is not as it is written. */
  readonly compiled?: string;
}

/** Everything the engines refuse. */
export function patternFindings(
  rules: readonly RuleAt[],
  checks: PatternChecks,
): readonly Finding[] {
  const found: Finding[] = [];
  const known = new Map<string, PatternFault | undefined>();
  let costly = 0;
  for (const pattern of rules.flatMap(patternsOf)) {
    const { form, path, source, compiled = source } = pattern;
    const id = `${form} ${compiled}`;
    if (!known.has(id)) {
      costly += costOf(pattern);
      if (costly > COSTLY_MAX) return [...found, tooMany(path)];
      known.set(id, isPathForm(form) ? pathPatternFault(compiled, form) : checks[form](compiled));
    }
    const fault = known.get(id);
    if (fault !== undefined) found.push(patternFinding(pattern, fault));
    if (found.length >= PROBLEMS_MAX) return found;
  }
  return found;
}

/** A condition may hold hundreds of expressions, and one may be as dear as five others. */
function costOf({ form, source }: Pattern): number {
  if (form !== 'regex' && form !== 'when') return 0;
  const inside = form === 'when' ? (source.match(/\bmatches\b/g)?.length ?? 0) : 0;
  return inside + Math.max(1, Math.ceil(regexSize(source).parts / COSTLY_PARTS));
}

function patternsOf({ rule, path }: RuleAt): readonly Pattern[] {
  const patterns: Pattern[] = [];
  for (const field of TEXT_FIELDS) {
    const { glob = [], regex = [], ignore_case = false } = rule.match[field] ?? {};
    const at = [...path, 'match', field];
    patterns.push(...listed(glob, 'glob', [...at, 'glob']));
    for (const pattern of listed(regex, 'regex', [...at, 'regex'])) {
      patterns.push({ ...pattern, compiled: regexSource(pattern.source, ignore_case) });
    }
  }
  patterns.push(...pathPatterns(rule.match, [...path, 'match']));
  patterns.push(...commandPatterns(rule.match, [...path, 'match']));
  const { when } = rule;
  if (when !== undefined) patterns.push({ form: 'when', source: when, path: [...path, 'when'] });
  return patterns;
}

/** What the lists of `match.command` are written in. */
const COMMAND_FORMS = [
  ['program', 'glob'],
  ['hosts', 'glob'],
  ['reads', 'path_matches'],
  ['writes', 'path_matches'],
  ['not_writes_under', 'path_under'],
  ['args_under', 'path_under'],
  ['not_args_under', 'path_under'],
] as const;

function commandPatterns({ command }: Match, path: Path): readonly Pattern[] {
  return COMMAND_FORMS.flatMap(([field, form]) =>
    listed(command?.[field] ?? [], form, [...path, 'command', field]),
  );
}

function pathPatterns({ args, any_arg }: Match, path: Path): readonly Pattern[] {
  return PATH_FIELDS.flatMap((field) => {
    const form = formOf(field);
    const at = [...path, 'args', field];
    const keys = Object.entries(args?.[field] ?? {});
    return [
      ...keys.map(([key]): Pattern => ({ form: 'glob', source: key, path: [...at, key] })),
      ...keys.flatMap(([key, list]) => listed(list, form, [...at, key])),
      ...listed(any_arg?.[field] ?? [], form, [...path, 'any_arg', field]),
    ];
  });
}

function isPathForm(form: PatternForm): form is PathForm {
  return form === 'path_under' || form === 'path_matches';
}

function listed(list: readonly string[], form: PatternForm, path: Path): readonly Pattern[] {
  return list.map((source, index) => ({ form, source, path: [...path, index] }));
}

const CODES: { readonly [F in PatternForm]: BundleCode } = {
  glob: 'SUB_BUNDLE_GLOB',
  regex: 'SUB_BUNDLE_REGEX',
  when: 'SUB_BUNDLE_WHEN',
  path_under: 'SUB_BUNDLE_GLOB',
  path_matches: 'SUB_BUNDLE_GLOB',
};

const FIXES: { readonly [F in PatternForm]: string } = {
  glob: 'Use `*`, `?`, `[a-z]` or `{one,two}`, and `\\` before a sign that is meant as is.',
  regex: 'Write it in RE2 syntax, or use a glob.',
  when: 'Write CEL over `call`, `identity` and `args`.',
  path_under: 'Write a folder, such as `${project}/src`, `~/notes` or `/etc`.',
  path_matches: 'Write a path such as `**/.env*` or `${project}/src/**`.',
};

/** What an engine refuses, as a finding. */
export function patternFinding({ form, source, path }: Pattern, fault: PatternFault): Finding {
  const what = form === 'when' ? 'condition' : `${form} ${quote(source)}`;
  const reason = visible(fault.message.split('\n', 1)[0] ?? '', REASON_LENGTH_MAX);
  const message = `invalid ${what}: ${reason}`;
  const inside = fault.offset === undefined ? {} : { inside: fault.offset };
  return { code: CODES[form], path, message, fix: fault.fix ?? FIXES[form], ...inside };
}

function tooMany(path: Path): Finding {
  const message = `more than ${COSTLY_MAX} different regexes and conditions, large ones counted as several`;
  const fix = 'Use globs, or split the bundle.';
  return { code: 'SUB_BUNDLE_TOO_LARGE', path, message, fix };
}
