// A hint becomes a rule of the policy: planned, checked, shown, and written when somebody agrees.
import { type Bundle, type Failure, isFailure, type JsonObject } from '@subluminal/contracts';
import {
  compileBundle,
  diffBundles,
  explain,
  initialState,
  loadPatternChecks,
  parseBundle,
  type Snapshot,
} from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { FLAGS, type RunRow } from '@subluminal/plane/ledger';
import { STDIO } from '../input/read-file.ts';
import { replaceFile } from '../input/write-file.ts';
import { readBundle } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { insertRule, type NewRule, ruleFor, unifiedDiff } from './allow-rule.ts';
import { type Hinted, promoteFailure } from './find.ts';

interface PolicyWish {
  readonly path: string;
  readonly call: Hinted;
  readonly run: RunRow;
  readonly anyArgs: boolean;
  readonly session: boolean;
  readonly by: string;
  readonly nowMs: number;
}

export interface PolicyPlan {
  readonly kind: 'plan';
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly rule: NewRule;
  readonly diff: readonly string[];
  /** What else must be known; whole sentences. */
  readonly notes: readonly string[];
}

const TAKEN_UP =
  'It loosens the policy, so what runs already takes it up only with policy.reload = "any"; else it holds from the next start on.';
const SHA256 = /^[0-9a-f]{64}$/;

export async function planPolicy(wish: PolicyWish, io: Io): Promise<PolicyPlan | Failure> {
  const { path, call, anyArgs } = wish;
  if (path === STDIO)
    return promoteFailure('a policy from standard input cannot be changed.', 'Name it.');
  if (!anyArgs && !SHA256.test(call.args_hash)) {
    return promoteFailure(
      'the arguments of this call were not read.',
      'Add --any-args, or leave it.',
    );
  }
  const read = await readBundle(path, io);
  if (isFailure(read)) return read;
  const { parsed } = read;
  if (!parsed.ok) {
    return promoteFailure(
      `${path} has errors.`,
      `Run \`sub policy lint ${path}\`, and correct them.`,
    );
  }
  const index = parsed.bundle.rules.findIndex(({ rule_id }) => rule_id === call.rule_id);
  if (index < 0) {
    const message = `${path} has no rule \`${call.rule_id ?? ''}\`, which gave the hint.`;
    return promoteFailure(message, 'Name the policy that was in force.');
  }
  const at = new Date(wish.nowMs).toISOString();
  const { env } = wish.run;
  const rule = ruleFor({ ...wish, env: env ?? 'unknown', at }, parsed.bundle);
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(read.file.bytes);
  const after = insertRule(before, rule, parsed.positionOf(['rules', index]));
  const notes = await checkInsertion(wish, { before: parsed.bundle, text: after, rule });
  if (isFailure(notes)) return notes;
  const diff = unifiedDiff(path, before, after);
  return { kind: 'plan', path, before, after, rule, diff, notes };
}

interface RuleInsertion {
  readonly before: Bundle;
  readonly text: string;
  readonly rule: NewRule;
}

/** The new text must be a policy that differs by this one rule; what it does to the call is told. */
async function checkInsertion(
  wish: PolicyWish,
  { before, text, rule }: RuleInsertion,
): Promise<readonly string[] | Failure> {
  const source = { file: wish.path, text };
  const parsed = parseBundle(source, { checks: await loadPatternChecks() });
  const byHand = 'Write the rule by hand; nothing was changed.';
  if (!parsed.ok) return promoteFailure('the rule cannot be put into this file safely.', byHand);
  const options = { sha256, profile: 'production' as const };
  const [old, next] = [
    await compileBundle(before, options),
    await compileBundle(parsed.bundle, options),
  ];
  const { changes } = diffBundles(old.document, next.document);
  const others = changes.filter(
    ({ path, change, rule_id }) =>
      path !== 'version' && !(change === 'added' && rule_id === rule.rule_id),
  );
  const isAdded = next.document.rules.length === old.document.rules.length + 1;
  if (others.length > 0 || !isAdded) {
    return promoteFailure('the rule cannot be put into this file without changing others.', byHand);
  }
  return [
    ...effectNotes(next, wish, rule),
    TAKEN_UP,
    `The version stays ${before.version}: change it when the policy is published.`,
  ];
}

/** Decides the call by the new policy, when its arguments are known in full. */
function effectNotes(next: Snapshot, wish: PolicyWish, rule: NewRule): readonly string[] {
  const { call, run } = wish;
  const args = argsOf(call);
  if (args === undefined) {
    return ['The arguments are not on record in full, so the rule was not tried on the call.'];
  }
  const identity = {
    run_id: call.run_id,
    agent_id: call.agent_id,
    client: run.client ?? 'unknown',
    env: run.env ?? 'unknown',
    ...(run.principal !== null && { principal: run.principal }),
  };
  const { server_name, tool_name, args_hash } = call;
  const named = { identity, server_name, tool_name, args_hash, bytes_in: call.bytes_in ?? 0 };
  const question = {
    call: { ...named, args },
    state: initialState(next),
    nowMs: wish.nowMs,
  };
  const { decision, rules } = explain(next, question);
  if (decision.rule_id !== rule.rule_id) {
    return [`This call still would not pass by it: ${decision.summary} (${decision.rule_id})`];
  }
  const passed = rules.filter(
    ({ rule_id, outcome }) =>
      rule_id !== call.rule_id && (outcome === 'would_decide' || outcome === 'asks'),
  );
  if (passed.length === 0) return [];
  const names = passed.map(({ rule_id }) => rule_id).join(', ');
  return [`It lets the call pass these rules, too: ${names}.`];
}

function argsOf(call: Hinted): JsonObject | undefined {
  const text = call.args_preview;
  // The end of a refused call has nothing to show, which says nothing of its arguments.
  const isCut = (call.redaction_flags & (FLAGS.argsTruncated | FLAGS.argsDropped)) !== 0;
  if (text === null || isCut || text.includes('[REDACTED')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes exactly what was shown, over exactly what it was made from. */
export async function writePolicyPlan(
  { path, before, after }: PolicyPlan,
  io: Io,
): Promise<Failure | undefined> {
  const now = await readBundle(path, io);
  if (isFailure(now)) return now;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(now.file.bytes);
  if (text !== before) return promoteFailure(`${path} was changed meanwhile.`, 'Try again.');
  const written = await replaceFile(path, after);
  return isFailure(written) ? written : undefined;
}
