// A policy with its text, its rules and how often they decided, and what is wrong with a text.
import {
  type ApiPolicyActive,
  type ApiPolicyActiveQuery,
  type ApiPolicyLint,
  type ApiPolicyProblem,
  type Bundle,
  type Failure,
  isFailure,
  type Rule,
} from '@subluminal/contracts';
import type { Problem, Snapshot } from '@subluminal/core/policy';
import { sha256Bytes } from '@subluminal/plane/crypto';
import type { StoreReader } from '@subluminal/plane/ledger';
import { readRegularFile } from '@subluminal/plane/os';
import type { FileBytes } from '../input/read-file.ts';
import { notABundle } from '../policy/file-kind.ts';
import { policyFrom } from '../policy/load-policy.ts';
import { lintFile, pinnedTools } from '../policy/read-bundle.ts';
import {
  chosenPolicy,
  currentConfig,
  type KnownPolicy,
  knownPaths,
  type PolicyPlace,
  readKnown,
  rulePaths,
} from './known-policies.ts';

/** As long as a text may be that is sent. */
const TEXT_BYTES_MAX = 1_048_576;
const HITS_MS = 30 * 24 * 60 * 60 * 1_000;

interface ShowOptions {
  readonly place: PolicyPlace;
  readonly reader: Pick<StoreReader, 'ruleHits'>;
  readonly nowMs: () => number;
}

export async function activePolicy(
  { path, from_ms }: ApiPolicyActiveQuery,
  { place, reader, nowMs }: ShowOptions,
): Promise<ApiPolicyActive | Failure> {
  const config = await currentConfig(place);
  if (isFailure(config)) return config;
  const known = chosenPolicy(path, place, config);
  if (isFailure(known)) return known;
  const read = await readPolicy(known, place);
  const hits_from_ms = from_ms ?? Math.max(0, nowMs() - HITS_MS);
  const hits = new Map((await reader.ruleHits(hits_from_ms)).map((one) => [one.rule_id, one]));
  const others = knownPaths(place, config).map((one) => readKnown(one, place, config));
  const { bytes, role } = known;
  const document = read.snapshot?.document;
  return {
    path: known.path,
    role: bytes === null ? null : role,
    trusted: role !== 'untrusted',
    editable: bytes === null ? known.unread === undefined : read.text !== null,
    text: read.text,
    sha256: bytes === null ? null : sha256Bytes(bytes),
    policy_id: document?.policy_id ?? null,
    version: document?.version ?? null,
    mode: document?.mode ?? null,
    policy_hash: read.snapshot?.ref.policy_hash ?? null,
    rules: read.rules.map(({ rule, line }) => {
      const {
        hits: decided = 0,
        would_hits = 0,
        last_hit_ms = null,
      } = hits.get(rule.rule_id) ?? {};
      return { ...ruleView(rule), line, hits: decided, would_hits, last_hit_ms };
    }),
    hits_from_ms,
    problems: read.problems,
    tests: testsBeside(known),
    sources: others
      .slice(0, 1)
      .filter((one) => one.bytes !== null)
      .map(fileView),
    others: others.map(fileView),
    reload: config['policy.reload'],
  };
}

function fileView({ path, role, bytes }: KnownPolicy) {
  return { path, role, exists: bytes !== null };
}

interface ReadPolicy {
  /** Null where there is nothing that could be edited. */
  readonly text: string | null;
  readonly snapshot: Snapshot | undefined;
  readonly rules: readonly { readonly rule: Rule; readonly line: number | null }[];
  readonly problems: readonly ApiPolicyProblem[];
}

const NOTHING: ReadPolicy = { text: null, snapshot: undefined, rules: [], problems: [] };

async function readPolicy(known: KnownPolicy, place: PolicyPlace): Promise<ReadPolicy> {
  const { path, bytes, unread } = known;
  if (bytes === null) return unread === undefined ? NOTHING : failed(unread);
  const file: FileBytes = { kind: 'file', name: path, bytes };
  const compiled = await policyFrom(file, { paths: rulePaths(known, place) });
  const snapshot = isFailure(compiled) ? undefined : compiled.snapshot;
  const other = notABundle(file);
  if (other !== undefined) {
    // A key that stands there by mistake is not shown.
    const rules = (snapshot?.document.rules ?? []).map((rule) => ({ rule, line: null }));
    return {
      text: null,
      snapshot,
      rules,
      problems: snapshot === undefined ? [wholeFile(other)] : [],
    };
  }
  if (bytes.length > TEXT_BYTES_MAX) {
    return { ...failed(isFailure(compiled) ? compiled : tooLong(path)), snapshot };
  }
  const { parsed, problems } = await lintFile(file, await pinnedTools());
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const written: Bundle['rules'] = parsed.ok ? parsed.bundle.rules : [];
  const rules = written.map((rule, at) => {
    return { rule, line: parsed.ok ? parsed.positionOf(['rules', at]).line : null };
  });
  return { text, snapshot, rules, problems: problems.map(problemView) };
}

function tooLong(path: string): Failure {
  const message = `${path} has more than ${TEXT_BYTES_MAX} bytes.`;
  return { kind: 'failure', code: 'SUB_BUNDLE_TOO_LARGE', message, fix: 'Make it smaller.' };
}

function failed(cause: Failure): ReadPolicy {
  return { ...NOTHING, problems: [wholeFile(cause)] };
}

function wholeFile({ code, message, fix }: Failure): ApiPolicyProblem {
  return { line: 1, column: 1, severity: 'error', code, path: '', message, fix };
}

function problemView({ level, code, path, position, message, fix }: Problem): ApiPolicyProblem {
  const { line, column } = position;
  return { line, column, severity: level, code, path, message, fix };
}

function ruleView(rule: Rule) {
  const { rule_id: id, kind, enabled, severity } = rule;
  return { id, kind, effect: effectWord(rule), severity, enabled };
}

/** What a rule does to a call in the end. */
function effectWord(rule: Rule): string {
  switch (rule.kind) {
    case 'allow':
      return 'ALLOW';
    case 'deny':
      return rule.effect.action;
    case 'approval':
      return 'ASK';
    case 'tag':
      return rule.effect.tag.add_risk_class.join(', ');
    case 'budget':
      return rule.effect.budget.on_exceed;
    case 'rate_limit':
      return rule.effect.rate_limit.on_limit;
    case 'breaker':
      return rule.effect.breaker.on_trip;
    case 'dedupe':
      return rule.effect.dedupe.on_duplicate;
  }
}

const POLICY_ENDING = /\.(?:ya?ml|json)$/;

/** The file of tests beside a policy: `policy.test.yaml` for `policy.yaml`. */
export function testsBeside({ path }: Pick<KnownPolicy, 'path'>): ApiPolicyActive['tests'] {
  const beside = `${path.replace(POLICY_ENDING, '')}.test.yaml`;
  const read = readRegularFile(beside, { bytesMax: TEXT_BYTES_MAX, noFollow: true });
  return read.kind === 'read' ? { path: beside, text: read.bytes.toString('utf8') } : null;
}

/** What is wrong with a text. */
export async function lintText(text: string): Promise<ApiPolicyLint> {
  const file = textFile(text);
  const other = notABundle(file);
  if (other !== undefined) return { ok: false, rules: null, problems: [wholeFile(other)] };
  const { parsed, problems } = await lintFile(file, await pinnedTools());
  const rules = parsed.ok ? parsed.bundle.rules.length : null;
  return { ok: parsed.ok, rules, problems: problems.map(problemView) };
}

/** What stands for the name of a file in messages about a text. */
export function textFile(text: string, name = 'policy.yaml'): FileBytes {
  return { kind: 'file', name, bytes: Buffer.from(text) };
}
