// A policy as compiled: the stored document, and the same thing ready to decide.
import type {
  Bundle,
  JsonObject,
  PolicyRef,
  Profile,
  Rule,
  SnapshotDocument,
} from '@subluminal/contracts';
import { canonicalize } from '../../canon/index.ts';
import type { Sha256 } from '../../ports.ts';
import { type Engines, enginesFor } from './engines.ts';
import { type CompiledMatch, compileMatch } from './match.ts';
import { normalizeBundle } from './normalize.ts';

interface CompiledRule {
  readonly rule: Rule;
  readonly match: CompiledMatch;
  /** Where the rule keeps its state; -1 for a rule without any. */
  readonly slot: number;
}

/** Which rule owns which slot of a state, so that counters survive a policy reload. */
interface Layout {
  readonly owners: readonly string[];
}

interface Snapshot {
  readonly document: SnapshotDocument;
  readonly ref: PolicyRef;
  readonly profile: Profile;
  readonly rules: readonly CompiledRule[];
  readonly layout: Layout;
  readonly engines: Engines;
  /** Remembers which rules can match a pair of names; a cache, never state. */
  readonly candidates: Map<string, readonly CompiledRule[]>;
}

interface CompileOptions {
  readonly sha256: Sha256;
  readonly profile?: Profile;
}

const CANDIDATES_MAX = 1_024;
const STATEFUL = new Set(['budget', 'rate_limit', 'breaker', 'dedupe']);

/** Compiles a bundle that has parsed without errors. */
function compileBundle(bundle: Bundle, options: CompileOptions): Promise<Snapshot> {
  return compileDocument(normalizeBundle(bundle), options);
}

async function compileDocument(
  document: SnapshotDocument,
  options: CompileOptions,
): Promise<Snapshot> {
  const engines = await enginesFor(document.rules);
  const owners: string[] = [];
  const rules: CompiledRule[] = [];
  for (const rule of document.rules) {
    // A rule that is off must be sound too: switching it on is no time for surprises.
    const match = compileMatch(rule, engines);
    if (!rule.enabled) continue;
    const slot = STATEFUL.has(rule.kind) ? owners.push(`${rule.kind} ${rule.rule_id}`) - 1 : -1;
    rules.push({ rule, match, slot });
  }
  return {
    document,
    ref: {
      policy_id: document.policy_id,
      policy_version: document.version,
      policy_hash: options.sha256(canonicalText(document)),
    },
    profile: options.profile ?? 'production',
    rules,
    layout: { owners },
    engines,
    candidates: new Map(),
  };
}

/** The enabled rules that these names can match, in order. */
function candidatesFor(
  snapshot: Snapshot,
  serverName: string,
  toolName: string,
): readonly CompiledRule[] {
  // Names may hold any character: the length says where the first ends.
  const key = `${serverName.length} ${serverName}\u0000${toolName}`;
  const known = snapshot.candidates.get(key);
  if (known !== undefined) return known;
  const found = snapshot.rules.filter(({ match }) => match.names(serverName, toolName));
  if (snapshot.candidates.size >= CANDIDATES_MAX) snapshot.candidates.clear();
  // Very long names are hostile, and not worth remembering.
  if (key.length <= 512) snapshot.candidates.set(key, found);
  return found;
}

/** The document as plain JSON, for whoever keeps a copy; undefined when it is longer than that. */
function documentOf({ document }: Snapshot, lengthMax: number): JsonObject | undefined {
  const text = JSON.stringify(document);
  if (text.length > lengthMax) return undefined;
  const plain: unknown = JSON.parse(text);
  if (isJsonObject(plain)) return plain;
  throw new Error('a snapshot is an object');
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonical text that the hash and the signature cover. */
function canonicalText(document: SnapshotDocument): string {
  const written = canonicalize(JSON.stringify(document));
  if (!written.ok) throw new Error(`a snapshot has no canonical form: ${written.message}`);
  return written.canonical;
}

export type { CompiledRule, CompileOptions, Layout, Snapshot };
export { candidatesFor, canonicalText, compileBundle, compileDocument, documentOf };
