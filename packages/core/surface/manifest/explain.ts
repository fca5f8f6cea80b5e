// What is wrong with a manifest, in words that name the likely fix.
import type { Mismatch, SubCode } from '@subluminal/contracts';
import { formatPath, type Path, type Problem, sorted } from '../../source/problem.ts';
import type { SourceTree } from '../../source/read-source.ts';
import { follow, type Tree } from '../../source/tree.ts';
import { typeFix, valueFix, written } from '../../source/type-fix.ts';
import { likely, nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';

type ManifestCode = Extract<SubCode, `SUB_MANIFEST_${string}`>;

/** Something wrong at a place in the manifest. */
export interface ManifestFinding {
  readonly code: ManifestCode;
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
  /** Set when the key is wrong, not the value behind it. */
  readonly atKey?: boolean;
}

/** What other tools and other parts of the product call these fields. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  `allow=allowed tools=allowed_tools prompts=allowed_prompts resources=allowed_resources
   approval=requires_approval tier=permission_tier rate=rate_limit timezone=utc_offset
   tz=utc_offset start=from end=to max=maximum min=minimum regex=pattern
   breaker=circuit_breaker permission_tiers=tiers tools_list=actions`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
);

/** Mismatches of the shape as findings. */
export function explainShape(
  mismatches: readonly Mismatch[],
  root: Tree,
): readonly ManifestFinding[] {
  return mismatches.map((mismatch) => {
    const { path, problem } = mismatch;
    if (problem === 'unknown') return { path, atKey: true, ...unknownField(mismatch, root) };
    if (problem === 'missing') {
      const name = String(path.at(-1));
      const fix =
        name === 'server' ? 'Add `server: NAME`, as the server is configured.' : `Add \`${name}\`.`;
      return { code: 'SUB_MANIFEST_FIELD', path, message: `missing ${mismatch.expected}`, fix };
    }
    return { path, ...wrongValue(mismatch, root) };
  });
}

type ManifestAdvice = Pick<ManifestFinding, 'code' | 'message' | 'fix'>;

function unknownField({ path, choices }: Mismatch, root: Tree): ManifestAdvice {
  const code = 'SUB_MANIFEST_FIELD';
  const name = String(path.at(-1));
  const { tree } = follow(root, path.slice(0, -1));
  const free = choices.filter((field) => tree.kind !== 'map' || !tree.entries.has(field));
  const known = SYNONYMS.get(name.toLowerCase());
  const meant = free.find((field) => field === known) ?? likely(name, free);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    return { code, message, fix: `Rename it to \`${meant}\`.` };
  }
  const message = `unknown field ${quote(name)}; the fields here are ${choices.join(', ')}`;
  return { code, message, fix: 'Remove it.' };
}

function wrongValue(mismatch: Mismatch, root: Tree): ManifestAdvice {
  const code = 'SUB_MANIFEST_VALUE';
  const { path, problem, choices, expected } = mismatch;
  const { tree } = follow(root, path);
  if (path.length === 0) {
    const message = `a manifest is an object, but this file holds ${written(tree)}`;
    return { code, message, fix: 'Start with `server: NAME` and `allowed_tools:`.' };
  }
  const name = path.findLast((step) => typeof step === 'string') ?? '';
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    const meant = nearest(tree.value, choices);
    const message = `unknown ${name} ${quote(tree.value)}; expected one of ${choices.join(', ')}`;
    return { code, message, fix: meant === undefined ? 'Use one of them.' : `Write \`${meant}\`.` };
  }
  const quantity = quantityOf(name, tree);
  if (quantity !== undefined) return { code, ...quantity };
  const message = `expected ${expected}, got ${written(tree)}`;
  const fix = problem === 'value' ? valueFix(mismatch, tree) : typeFix(name, expected, tree);
  return { code, message, fix };
}

const DURATIONS: ReadonlySet<string> = new Set(
  'cooldown timeout error_window latency_threshold recovery_timeout'.split(' '),
);

/** A number without its unit, the likely mistake where a rate or a duration is meant. */
function quantityOf(name: string, tree: Tree): Omit<ManifestAdvice, 'code'> | undefined {
  const isRate = name === 'rate_limit';
  if (!isRate && !DURATIONS.has(name)) return undefined;
  if (tree.kind !== 'scalar' || typeof tree.value !== 'number') return undefined;
  const isCount = Number.isSafeInteger(tree.value) && tree.value > 0 && tree.value <= COUNT_MAX;
  const count = isCount ? tree.value : 30;
  const meant = isRate ? `${count}/minute` : `${count}s`;
  const message = `expected a ${isRate ? 'rate' : 'duration'} with its unit, got ${written(tree)}`;
  return { message, fix: `Write \`${meant}\`, or with another unit.` };
}

const COUNT_MAX = 1_000_000;

/** Findings with the line and column where each stands. */
export function placed(
  findings: readonly ManifestFinding[],
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

/** The reader of sources writes of bundles; here the same problem names the manifest. */
export function asManifestProblem(problem: Problem): Problem {
  const reworded = (text: string) =>
    text.replaceAll('bundle', 'manifest').replaceAll('policy', 'manifest');
  const fix = problem.fix.startsWith('Start with')
    ? 'Start with `server: NAME` and `allowed_tools:`.'
    : reworded(problem.fix);
  return { ...problem, code: 'SUB_MANIFEST_SYNTAX', message: reworded(problem.message), fix };
}
