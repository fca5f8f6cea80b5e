// A policy as compiled: the stored document, and the same thing ready to decide.
import {
  type Bundle,
  isJsonObject,
  type JsonObject,
  type PolicyRef,
  type Profile,
  type Rule,
  type SnapshotDocument,
} from '@subluminal/contracts';
import { canonicalize } from '../../json/index.ts';
import type { ProjectPaths, Sha256 } from '../../ports.ts';
import { type CompiledMatch, compileMatch, type Engines, enginesFor } from '../match/match.ts';
import type { Call } from '../model/call.ts';
import type { RuleSubject } from '../model/subjects.ts';
import type { RuleKind } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';
import { normalizeBundle } from './normalize.ts';
import { opaqueRules } from './opaque-rules.ts';

export interface CompiledRule {
  readonly rule: Rule;
  /** The handlers of its kind, so that deciding looks nothing up. */
  readonly kind: RuleKind;
  readonly match: CompiledMatch;
  /** Where the rule keeps its state; -1 for a rule without any. */
  readonly slot: number;
}

/** Which rule owns which slot of a state, so that counters survive a policy reload. */
export interface Layout {
  readonly owners: readonly string[];
}

export interface Snapshot {
  readonly document: SnapshotDocument;
  readonly ref: PolicyRef;
  readonly profile: Profile;
  readonly rules: readonly CompiledRule[];
  /** All rules, disabled ones too, with those that the policy implies. */
  readonly written: readonly Rule[];
  readonly layout: Layout;
  readonly engines: Engines;
  /** Remembers which rules can match a pair of names; a cache, never state. */
  readonly candidates: Map<string, readonly CompiledRule[]>;
  /** What its rules see besides the calls of tools. */
  readonly subjects: ReadonlySet<RuleSubject>;
  /** A second policy that is applied as well and can only tighten; it shares the layout. */
  readonly tightenedBy: Snapshot | undefined;
}

export interface CompileOptions {
  readonly sha256: Sha256;
  readonly profile?: Profile;
  /** The folders that rules about paths speak of; a policy with such rules needs them. */
  readonly paths?: ProjectPaths | undefined;
}

const CANDIDATES_MAX = 1_024;

/** Compiles a bundle that has parsed without errors. */
export function compileBundle(bundle: Bundle, options: CompileOptions): Promise<Snapshot> {
  return compileDocument(normalizeBundle(bundle), options);
}

export async function compileDocument(
  document: SnapshotDocument,
  options: CompileOptions,
): Promise<Snapshot> {
  const owners: string[] = [];
  const policy_hash = options.sha256(canonicalText(document));
  const profile = options.profile ?? 'production';
  const shared = {
    policy_hash,
    profile,
    owners,
    layout: { owners },
    paths: options.paths,
    prefix: '',
  };
  const first = await compileOne(document, shared);
  if (document.tightened_by === undefined) return first;
  const prefix = prefixFor(document.rules);
  const second = withPrefixedIds(document.tightened_by, prefix);
  return { ...first, tightenedBy: await compileOne(second, { ...shared, prefix }) };
}

interface SharedParts {
  readonly policy_hash: string;
  readonly profile: Profile;
  /** Takes the stateful rules; both policies of a document keep their counters in one state. */
  readonly owners: string[];
  readonly layout: Layout;
  readonly paths: ProjectPaths | undefined;
  /** Of the ids of its rules. */
  readonly prefix: string;
}

async function compileOne(
  document: SnapshotDocument,
  { policy_hash, profile, owners, layout, paths, prefix }: SharedParts,
): Promise<Snapshot> {
  const written = [...document.rules, ...opaqueRules(document, prefix)];
  const engines = await enginesFor(written, paths);
  const rules: CompiledRule[] = [];
  for (const rule of written) {
    const kind = ruleKind(rule.kind);
    // A disabled rule must compile too: enabling it must not fail.
    const match = compileMatch(rule, kind.role, engines);
    if (!rule.enabled) continue;
    const isStateful = kind.tables !== undefined;
    const slot = isStateful ? owners.push(`${rule.kind} ${rule.rule_id}`) - 1 : -1;
    rules.push({ rule, kind, match, slot });
  }
  return {
    document,
    ref: { policy_id: document.policy_id, policy_version: document.version, policy_hash },
    profile,
    rules,
    written,
    layout,
    engines,
    candidates: new Map(),
    subjects: new Set(rules.flatMap(({ match }) => [...match.subjects])),
    tightenedBy: undefined,
  };
}

/** Separates the rules of the second policy from the first, in counters, traces and approvals. */
function prefixFor(rules: readonly Rule[]): string {
  let prefix = 'project:';
  for (let n = 2; rules.some(({ rule_id }) => rule_id.startsWith(prefix)); n++) {
    prefix = `project${n}:`;
  }
  return prefix;
}

function withPrefixedIds(document: SnapshotDocument, prefix: string): SnapshotDocument {
  const rules = document.rules.map((rule) => ({ ...rule, rule_id: `${prefix}${rule.rule_id}` }));
  return { ...document, rules };
}

/** The policies that a snapshot applies. */
export function policiesIn(snapshot: Snapshot): readonly Snapshot[] {
  const { tightenedBy } = snapshot;
  return tightenedBy === undefined ? [snapshot] : [snapshot, tightenedBy];
}

/** The same policies, deciding in another profile. */
export function withProfile(snapshot: Snapshot, profile: Profile): Snapshot {
  const { tightenedBy } = snapshot;
  if (tightenedBy === undefined) return { ...snapshot, profile };
  return { ...snapshot, profile, tightenedBy: { ...tightenedBy, profile } };
}

type CallNames = Pick<Call, 'server_name' | 'tool_name' | 'subject'>;

/** The enabled rules that these names can match, in order. */
export function candidatesFor(
  snapshot: Snapshot,
  { server_name: serverName, tool_name: toolName, subject: other }: CallNames,
): readonly CompiledRule[] {
  const subject: RuleSubject = other ?? 'tool';
  // Names may hold any character, so the key begins with the length of the first name.
  const names = `${serverName.length} ${serverName}\u0000${toolName}`;
  const key = other === undefined ? names : `${subject} ${names}`;
  const known = snapshot.candidates.get(key);
  if (known !== undefined) return known;
  const found = snapshot.rules.filter(
    ({ match }) => match.subjects.has(subject) && match.names(serverName, toolName),
  );
  if (snapshot.candidates.size >= CANDIDATES_MAX) snapshot.candidates.clear();
  // Very long names are hostile, and not worth remembering.
  if (key.length <= 512) snapshot.candidates.set(key, found);
  return found;
}

/** The document as plain JSON, for a copy; undefined when it is too long. */
export function snapshotJson({ document }: Snapshot, lengthMax: number): JsonObject | undefined {
  const text = JSON.stringify(document);
  if (text.length > lengthMax) return undefined;
  const plain: unknown = JSON.parse(text);
  if (isJsonObject(plain)) return plain;
  throw new Error('a snapshot is an object');
}

/** The canonical text that the hash and the signature cover. */
export function canonicalText(document: SnapshotDocument): string {
  const written = canonicalize(JSON.stringify(document));
  if (!written.ok) throw new Error(`a snapshot has no canonical form: ${written.message}`);
  return written.canonical;
}

// The user's policy together with a project's policy that nobody has trusted: the second may only
// tighten the first.

/** One document of both; its hash covers both. */
export function tightenedDocument(
  user: SnapshotDocument,
  project: SnapshotDocument,
): SnapshotDocument {
  if (user.tightened_by !== undefined || project.tightened_by !== undefined) {
    throw new Error('a policy that holds two policies cannot be combined with another one');
  }
  return { ...user, tightened_by: project };
}

/** Compiles both into one snapshot: `decide` asks both, and the stricter decision wins. */
export function compileTightened(
  user: SnapshotDocument,
  project: SnapshotDocument,
  options: CompileOptions,
): Promise<Snapshot> {
  return compileDocument(tightenedDocument(user, project), options);
}

/**
 * The bundle of an untrusted policy, without what only a trusted one may say: fields by which a policy
 * switches off built-in protection.
 */
export function withoutTrustedFields<B extends Bundle>({
  self_protection: _onlyTrusted,
  ...rest
}: B): Omit<B, 'self_protection'> {
  return rest;
}
