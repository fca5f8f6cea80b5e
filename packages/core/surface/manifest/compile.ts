// A manifest as written → one that decides, or everything that is wrong with it.
import { parseAs } from '@subluminal/contracts';
import { canonicalize } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import { placed } from '../../source/explain-shape.ts';
import { PROBLEMS_MAX, type Problem } from '../../source/problem.ts';
import { readSource, type Source } from '../../source/read-source.ts';
import { valueOf } from '../../source/tree.ts';
import { readName } from '../names/name-patterns.ts';
import { variantOf } from '../names/spelling.ts';
import { Building, breakerOf, entriesOf, tiersOf, toolsOf } from './build.ts';
import { blockedOf, rewritesOf } from './build-params.ts';
import { asManifestProblem, explainManifest } from './explain.ts';
import { MANIFEST, TIERS } from './shape.ts';
import { type FullDocument, type Manifest, withDefaults } from './types.ts';

export type ManifestResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface ManifestOptions {
  readonly sha256: Sha256;
}

/** Reads a manifest from YAML or JSON. Whatever the input, it answers, and never throws. */
export async function compileManifest(
  source: Source,
  options: ManifestOptions,
): Promise<ManifestResult> {
  const read = readSource(source);
  if (!read.ok) return { ok: false, problems: read.problems.map(asManifestProblem) };
  const parsed = parseAs(MANIFEST, valueOf(read.tree));
  if (!parsed.ok) {
    const findings = explainManifest(parsed.mismatches.slice(0, PROBLEMS_MAX), read.tree);
    return { ok: false, problems: placed(findings, source.file, read) };
  }
  const document = withDefaults(parsed.value);
  const building = new Building(await engineFor(document));
  const manifest = built(building, document, options);
  if (building.findings.length === 0) return { ok: true, manifest };
  const findings = building.findings.slice(0, PROBLEMS_MAX);
  return { ok: false, problems: placed(findings, source.file, read) };
}

const EXPRESSIONS_MAX = 200;

/** The engine is heavy to load, and most manifests have no expression. */
async function engineFor(document: FullDocument): Promise<Building['regex']> {
  const limits = Object.values(document.schema_rewrites).flatMap(({ constrain_params = {} }) =>
    Object.values(constrain_params),
  );
  if (!limits.some(({ pattern }) => pattern !== undefined)) return undefined;
  const { compileRegex } = await import('../../patterns/regex.ts');
  let count = 0;
  return (source) => {
    count++;
    if (count <= EXPRESSIONS_MAX) return compileRegex(source, 'text');
    return { ok: false, message: `more than ${EXPRESSIONS_MAX} expressions` };
  };
}

function built(building: Building, document: FullDocument, { sha256 }: ManifestOptions): Manifest {
  const written = canonicalize(JSON.stringify(document));
  if (!written.ok) throw new Error(`a manifest has no canonical form: ${written.message}`);
  const { answers } = document;
  return {
    document,
    manifest_hash: sha256(written.canonical),
    server: document.server,
    transport: document.transport,
    defaultTier: document.default === 'deny' ? 'forbidden' : document.default,
    ...toolsOf(building, document),
    variants: variantsOf(document),
    tiers: tiersOf(building, document),
    blocked: blockedOf(building, document),
    rewrites: rewritesOf(building, document),
    prompts: entriesOf(building, 'allowed_prompts', document),
    resources: entriesOf(building, 'allowed_resources', document),
    breaker: breakerOf(building, document),
    answers: { bytesMax: answers.max_size_bytes, onExcess: answers.on_excess },
  };
}

function variantsOf(document: FullDocument): Manifest['variants'] {
  const written = [
    ...document.allowed_tools.map(({ name }) => name),
    ...TIERS.flatMap((tier) => document.tiers[tier]?.actions ?? []),
    ...Object.keys(document.schema_rewrites),
  ];
  const variants = new Map<string, readonly string[]>();
  for (const one of new Set(written)) {
    const pattern = readName(one);
    if (pattern.kind !== 'exact') continue;
    const variant = variantOf(pattern.name);
    variants.set(variant, [...(variants.get(variant) ?? []), pattern.name]);
  }
  return variants;
}
