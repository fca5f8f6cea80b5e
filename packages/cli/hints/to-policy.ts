// A hint becomes a rule of the policy: planned, checked, shown, and written when the user agrees.
import { type Bundle, type Failure, isJsonObject, type JsonObject } from '@subluminal/contracts';
import {
  compileBundle,
  diffBundles,
  explain,
  initialState,
  loadPatternChecks,
  parseBundle,
  type Snapshot,
} from '@subluminal/core/policy';
import { unifiedDiff } from '@subluminal/plane/clients';
import type { HomePaths } from '@subluminal/plane/config';
import { sha256, sha256Bytes } from '@subluminal/plane/crypto';
import { FLAGS, type RunRow } from '@subluminal/plane/ledger';
import { projectPaths } from '@subluminal/plane/policy';
import { orThrow } from '../input/command.ts';
import { type FileBytes, STDIO } from '../input/read-file.ts';
import { readBundle } from '../policy/read-bundle.ts';
import { writePolicyFile } from '../policy/write-policy.ts';
import type { Io } from '../terminal/io.ts';
import { insertRule, type NewRule, type RuleRequest, ruleFor } from './allow-rule.ts';
import { type Hinted, promoteFailure } from './find.ts';

interface PolicyWish extends Omit<RuleRequest, 'env' | 'at'> {
  readonly path: string;
  readonly run: RunRow;
  readonly nowMs: number;
}

export interface PolicyPlan {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly rule: NewRule;
  readonly diff: string;
  /** What the person must know before agreeing; whole sentences. */
  readonly notes: readonly string[];
}

const TAKEN_UP =
  'It loosens the policy, so what runs already takes it up only with policy.reload = "any"; else it holds from the next start on.';
const SHA256 = /^[0-9a-f]{64}$/;

/** Throws its failure. */
export async function planPolicy(wish: PolicyWish, io: Io): Promise<PolicyPlan> {
  const { path, call, anyArgs } = wish;
  if (path === STDIO) {
    return orThrow(promoteFailure('a policy from standard input cannot be changed.', 'Name it.'));
  }
  if (!anyArgs && !SHA256.test(call.args_hash)) {
    const fix = 'Add --any-args, or leave it.';
    return orThrow(promoteFailure('the arguments of this call were not read.', fix));
  }
  const { parsed, file } = orThrow(await readBundle(path, io));
  if (!parsed.ok) {
    const fix = `Run \`sub policy lint ${path}\`, and correct them.`;
    return orThrow(promoteFailure(`${path} has errors.`, fix));
  }
  const index = parsed.bundle.rules.findIndex(({ rule_id }) => rule_id === call.rule_id);
  if (index < 0) {
    const message = `${path} has no rule \`${call.rule_id ?? ''}\`, which gave the hint.`;
    return orThrow(promoteFailure(message, 'Name the policy that was in force.'));
  }
  const named = { env: wish.run.env ?? 'unknown', at: new Date(wish.nowMs).toISOString() };
  const rule = ruleFor({ ...wish, ...named }, parsed.bundle);
  const before = textOf(file);
  const after = insertRule(before, rule, parsed.positionOf(['rules', index]));
  const notes = orThrow(await checkInsertion(wish, { before: parsed.bundle, text: after, rule }));
  return { path, before, after, rule, diff: unifiedDiff({ before, after, name: path }), notes };
}

function textOf({ bytes }: FileBytes): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

interface RuleInsertion {
  readonly before: Bundle;
  readonly text: string;
  readonly rule: NewRule;
}

/** The new text must be a policy that differs by this one rule. Returns notes for the person. */
async function checkInsertion(
  wish: PolicyWish,
  { before, text, rule }: RuleInsertion,
): Promise<readonly string[] | Failure> {
  const source = { file: wish.path, text };
  const parsed = parseBundle(source, { checks: await loadPatternChecks() });
  const byHand = 'Write the rule by hand; nothing was changed.';
  if (!parsed.ok) return promoteFailure('the rule cannot be put into this file safely.', byHand);
  const options = { sha256, profile: 'production' as const, paths: projectPaths() };
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
  const { nowMs } = wish;
  const question = { call: { ...named, args }, state: initialState(next), nowMs };
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

/** Writes exactly what was shown, over exactly what it was made from, and keeps a copy of that. Throws its failure. */
export async function writePolicyPlan(
  { path, before, after }: PolicyPlan,
  { backups }: Pick<HomePaths, 'backups'>,
): Promise<void> {
  const base = sha256Bytes(Buffer.from(before));
  orThrow(await writePolicyFile({ path, base, text: after, backups, nowMs: Date.now() }));
}
