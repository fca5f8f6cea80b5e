// What is wrong with a manifest, in words that name the likely fix.
import type { Mismatch, SubCode } from '@subluminal/contracts';
import {
  explainShape,
  reworded,
  type ShapeWords,
  type SourceFinding,
} from '../../source/explain-shape.ts';
import type { Problem } from '../../source/problem.ts';
import type { Tree } from '../../source/tree.ts';
import { written } from '../../source/type-fix.ts';

type ManifestCode = Extract<SubCode, `SUB_MANIFEST_${string}`>;

/** Something wrong at a place in the manifest. */
export interface ManifestFinding extends SourceFinding {
  readonly code: ManifestCode;
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

const START = 'Start with `server: NAME` and `allowed_tools:`.';

const WORDS: ShapeWords = {
  title: 'a manifest',
  start: START,
  codes: { field: 'SUB_MANIFEST_FIELD', value: 'SUB_MANIFEST_VALUE' },
  synonyms: SYNONYMS,
  missingFix: (name) =>
    name === 'server' ? 'Add `server: NAME`, as the server is configured.' : undefined,
  valueWords: quantityWords,
};

/** Mismatches of the shape as findings. */
export function explainManifest(
  mismatches: readonly Mismatch[],
  root: Tree,
): readonly SourceFinding[] {
  return explainShape(mismatches, root, WORDS);
}

const DURATIONS: ReadonlySet<string> = new Set(
  'cooldown timeout error_window latency_threshold recovery_timeout'.split(' '),
);

/** A number without its unit, the likely mistake where a rate or a duration is meant. */
function quantityWords(
  name: string,
  tree: Tree,
): { readonly message: string; readonly fix: string } | undefined {
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

export function asManifestProblem(problem: Problem): Problem {
  return reworded(problem, { code: 'SUB_MANIFEST_SYNTAX', noun: 'manifest', start: START });
}
