// A taint section as written → tests, or everything that is wrong with it. Never throws.
import { check, type Mismatch, type SubCode } from '@subluminal/contracts';
import { compileGlob } from '../../policy/compile/glob.ts';
import { likely, nearest, type Problem } from '../../policy/problem.ts';
import { formatPath, type Path, PROBLEMS_MAX, sorted } from '../../policy/read/finding.ts';
import { quote } from '../../policy/read/quote.ts';
import { readSource, type Source, type SourceTree } from '../../policy/read/source.ts';
import { follow, type Tree, valueOf } from '../../policy/read/tree.ts';
import { typeFix, valueFix, written } from '../../policy/read/type-fix.ts';
import { compileTaint, type TaintPolicy } from './compile.ts';
import { TAINT_SECTION, type TaintSection } from './shape.ts';

type TaintCode = Extract<SubCode, `SUB_TAINT_${string}`>;

type TaintRead =
  | { readonly ok: true; readonly section: TaintSection; readonly policy: TaintPolicy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface Finding {
  readonly code: TaintCode;
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
  /** Set when the key is wrong, not the value behind it. */
  readonly atKey?: boolean;
}

/** What people call these fields. */
const SYNONYMS: { readonly [name: string]: string } = {
  allowlist: 'allow',
  action: 'on_taint',
  mode: 'on_taint',
  trust: 'default_trust',
  names: 'args',
  type: 'kind',
  flags: 'adds',
  domains: 'hosts',
  recipients: 'emails',
};

/** Reads YAML or JSON whose top level is the section. */
function readTaint(source: Source): TaintRead {
  const read = readSource(source);
  if (!read.ok) return { ok: false, problems: read.problems.map(asTaintProblem) };
  const value = valueOf(read.tree);
  const mismatches = check(TAINT_SECTION, value).slice(0, PROBLEMS_MAX);
  const findings = [
    ...mismatches.map((mismatch) => explained(mismatch, read.tree)),
    ...globFindings(read.tree, []),
  ];
  if (!isSection(value, findings)) {
    return { ok: false, problems: placed(findings, source.file, read) };
  }
  return { ok: true, section: value, policy: compileTaint(value) };
}

/** Everything has been looked at, and nothing was found. */
function isSection(_value: unknown, findings: readonly Finding[]): _value is TaintSection {
  return findings.length === 0;
}

function explained(mismatch: Mismatch, root: Tree): Finding {
  const { path, problem, choices, expected } = mismatch;
  const name = path.findLast((step) => typeof step === 'string') ?? 'taint';
  if (problem === 'unknown') return unknownField(mismatch, name);
  if (problem === 'missing') {
    const fix = choices.length > 0 ? `Add \`${name}: ${choices[0]}\`.` : `Add \`${name}\`.`;
    return { code: 'SUB_TAINT_FIELD', path, message: `missing ${expected}`, fix };
  }
  const code = 'SUB_TAINT_VALUE';
  const { tree } = follow(root, path);
  if (path.length === 0) {
    const message = `a taint section is an object, but this file holds ${written(tree)}`;
    return { code, path, message, fix: 'Start with `on_taint: ask`.' };
  }
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    const meant = nearest(tree.value, choices);
    const message = `unknown ${name} ${quote(tree.value)}; expected one of ${choices.join(', ')}`;
    const fix = meant === undefined ? 'Use one of them.' : `Write \`${meant}\`.`;
    return { code, path, message, fix };
  }
  const message = `expected ${expected}, got ${written(tree)}`;
  const fix = problem === 'value' ? valueFix(mismatch, tree) : typeFix(name, expected, tree);
  return { code, path, message, fix };
}

function unknownField({ path, choices }: Mismatch, name: string): Finding {
  const code = 'SUB_TAINT_FIELD';
  const synonym = Object.hasOwn(SYNONYMS, name.toLowerCase())
    ? SYNONYMS[name.toLowerCase()]
    : undefined;
  const meant =
    likely(name, choices) ??
    (synonym !== undefined && choices.includes(synonym) ? synonym : undefined);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    return { code, path, atKey: true, message, fix: `Rename it to \`${meant}\`.` };
  }
  const message = `unknown field ${quote(name)}; the fields here are ${choices.join(', ')}`;
  return { code, path, atKey: true, message, fix: 'Remove it.' };
}

/** Fields that hold one glob, and fields that hold a list of them. */
const GLOB_FIELDS: ReadonlySet<string> = new Set([
  'server',
  'tool',
  'args',
  'emails',
  'hosts',
  'urls',
  'paths',
  'commands',
]);

/** Every glob, wherever it stands, is compiled once here: what gets through can't fail later. */
function globFindings(tree: Tree, path: Path): readonly Finding[] {
  if (tree.kind === 'list') {
    return tree.items.flatMap((item, index) => globFindings(item, [...path, index]));
  }
  if (tree.kind === 'map') {
    return [...tree.entries].flatMap(([key, { value }]) => globFindings(value, [...path, key]));
  }
  const field = path.findLast((step) => typeof step === 'string');
  if (typeof tree.value !== 'string' || !GLOB_FIELDS.has(String(field))) return [];
  const compiled = compileGlob(tree.value);
  if (compiled.ok) return [];
  const message = `the glob ${quote(tree.value)} does not compile: ${compiled.message}`;
  const fix = 'Correct it; `*` matches any characters and `?` matches one.';
  return [{ code: 'SUB_TAINT_VALUE', path, message, fix }];
}

function placed(
  findings: readonly Finding[],
  file: string,
  source: SourceTree,
): readonly Problem[] {
  const problems = findings.map(({ code, path, message, fix, atKey }): Problem => {
    const { tree, keyOffset } = follow(source.tree, path);
    const position = source.positionAt(atKey === true ? keyOffset : tree.offset);
    return { level: 'error', code, file, position, path: formatPath(path), message, fix };
  });
  return sorted(problems);
}

/** The reader of policies speaks of bundles; this is what it says of a section. */
function asTaintProblem(problem: Problem): Problem {
  const reworded = (said: string) => said.replaceAll('bundle', 'taint section');
  const fix = problem.fix.startsWith('Start with')
    ? 'Start with `on_taint: ask`.'
    : reworded(problem.fix);
  return { ...problem, code: 'SUB_TAINT_SYNTAX', message: reworded(problem.message), fix };
}

export type { TaintRead };
export { readTaint };
