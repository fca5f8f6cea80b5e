// A call goes out: which of its arguments at sinks came from untrusted content.
import { formatPath } from '../policy/read/finding.ts';
import { type Chain, chainsOf } from './chains.ts';
import { joinedOf } from './joined.ts';
import { type Leaf, leavesOf } from './leaves.ts';
import { sightingOf } from './memory.ts';
import type { TaintPolicy } from './policy/compile.ts';
import { shapesOf } from './shape-of.ts';
import { shownChain, shownValue } from './shown.ts';
import { spellingsOf } from './tokens/spellings.ts';
import type {
  MatchKind,
  SinkKind,
  TaintCall,
  TaintFinding,
  TaintSource,
  TaintState,
  TaintVerdict,
} from './types.ts';

const LIMITS = { charsMax: 262_144, nodesMax: 10_000 };
const FINDINGS_MAX = 20;

interface Hit {
  readonly chain: Chain;
  readonly match: MatchKind;
  readonly source: TaintSource;
}

/** Clean, or each argument at a sink whose value was read in untrusted content of this run. */
function checkCall(state: TaintState, call: TaintCall, policy: TaintPolicy): TaintVerdict {
  if (state.untrustedCount === 0 && state.blind === undefined) return { verdict: 'clean' };
  const { leaves, whole } = leavesOf(call.args ?? {}, LIMITS);
  const found: TaintFinding[] = [];
  const sinkLeaves: Leaf[] = [];
  for (const leaf of leaves) {
    const sinks = sinksOf(leaf, call, policy);
    if (sinks.size > 0 && !leaf.isKey) sinkLeaves.push(leaf);
    for (const sink of sinks) found.push(...leafFindings(state, { leaf, sink }, policy));
  }
  if (found.length === 0) found.push(...joinedFindings(state, { leaves, sinkLeaves }, policy));
  if (!whole || call.args === undefined) found.push(...unseenFindings(state));
  const findings = distinct(found);
  if (findings.length === 0) return { verdict: 'clean' };
  const more = Math.max(0, findings.length - FINDINGS_MAX);
  return { verdict: 'tainted', findings: findings.slice(0, FINDINGS_MAX), more };
}

/** By the names on its way, and by what it looks like. A key is a sink where it looks like one. */
function sinksOf(leaf: Leaf, call: TaintCall, policy: TaintPolicy): ReadonlySet<SinkKind> {
  const shapes = [...shapesOf(leaf.text)].filter((kind) => policy.byShape.has(kind));
  if (leaf.isKey) return new Set(shapes);
  return new Set([...policy.sinksAt(call, leaf.path), ...shapes]);
}

interface SinkLeaf {
  readonly leaf: Leaf;
  readonly sink: SinkKind;
}

function leafFindings(
  state: TaintState,
  { leaf, sink }: SinkLeaf,
  policy: TaintPolicy,
): readonly TaintFinding[] {
  const arg = formatPath(leaf.path);
  const { hits, vouched } = judged(state, { value: leaf.text, sink }, policy);
  if (hits.length > 0) {
    return hits.map(({ chain, match, source }) => {
      return { arg, sink, match, source, shown: shownChain(chain) };
    });
  }
  if (state.blind === undefined || vouched || leaf.isKey) return [];
  return [{ arg, sink, match: 'unscanned', source: state.blind, shown: shownValue(leaf.text) }];
}

interface Judged {
  readonly hits: readonly Hit[];
  /** Everything that the value names is allowed, or was given by trusted content. */
  readonly vouched: boolean;
}

function judged(
  state: TaintState,
  { value, sink }: { readonly value: string; readonly sink: SinkKind },
  policy: TaintPolicy,
): Judged {
  const hits: Hit[] = [];
  let chains = 0;
  let good = 0;
  for (const spelling of spellingsOf(value)) {
    for (const chain of chainsOf(spelling, sink)) {
      chains++;
      if (policy.allows(chain.subject, chain.value)) {
        good++;
        continue;
      }
      const known = firstKnown(state, chain);
      if (known?.trust === 'trusted') good++;
      if (known?.trust === 'untrusted') hits.push({ chain, ...known });
    }
  }
  return { hits, vouched: chains > 0 && good === chains };
}

function firstKnown(state: TaintState, chain: Chain) {
  for (const { key, match } of chain.links) {
    const sighting = sightingOf(state, key);
    if (sighting !== undefined) return { ...sighting, match };
  }
  return undefined;
}

/** A value in pieces: `eve`, `evil.example` in two arguments, or a command word by word. */
function joinedFindings(
  state: TaintState,
  {
    leaves,
    sinkLeaves,
  }: { readonly leaves: readonly Leaf[]; readonly sinkLeaves: readonly Leaf[] },
  policy: TaintPolicy,
): readonly TaintFinding[] {
  if (sinkLeaves.length === 0) return [];
  const sinkPaths = new Set(sinkLeaves.map(({ path }) => formatPath(path)));
  return joinedOf(leaves).flatMap(({ text, sink, path, parts }) => {
    if (!parts.some((part) => sinkPaths.has(formatPath(part)))) return [];
    return judged(state, { value: text, sink }, policy).hits.map(({ chain, source }) => {
      const arg = formatPath(path);
      return { arg, sink, match: 'joined' as const, source, shown: shownChain(chain) };
    });
  });
}

/** Arguments that were not looked at may hold anything that was read. */
function unseenFindings(state: TaintState): readonly TaintFinding[] {
  const source = state.blind ?? state.flags.get('untrusted_input');
  if (source === undefined) return [];
  return [{ arg: '', sink: 'any', match: 'unscanned', source, shown: '…' }];
}

/** One finding for each argument, sink and value, the most telling match first. */
function distinct(findings: readonly TaintFinding[]): readonly TaintFinding[] {
  const kept = new Map<string, TaintFinding>();
  for (const finding of findings) {
    const id = JSON.stringify([finding.arg, finding.sink, finding.shown]);
    if (!kept.has(id)) kept.set(id, finding);
  }
  return [...kept.values()];
}

export { checkCall };
