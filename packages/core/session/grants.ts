// What people have granted already, and how it is used up. Nothing is used up by looking.
import { candidatesFor, policiesIn } from '../policy/compile/snapshot.ts';
import type { TraceStep } from '../policy/index.ts';
import type { ReadCall } from './apply-decision.ts';
import type { Context } from './context.ts';
import type { LazyEnvelope } from './envelope.ts';
import type { Judgement } from './gates.ts';
import type { GrantQuery, SessionConfig, TakenGrant } from './types.ts';

const NONE: readonly string[] = [];
/** What asks for a person in the hub, beside the rules. */
const HUB_GATES: readonly string[] = ['gate:taint', 'gate:rule-of-two'];

type Asked = Pick<GrantQuery, 'ref' | 'args'> & {
  readonly tool: string;
  readonly envelope: LazyEnvelope | undefined;
};
type Bound = Pick<ReadCall, 'ref' | 'envelope'>;

/** The approval rules that grants satisfy for this call. */
export function grantedRules(
  context: Context,
  { ref, tool, args, envelope }: Asked,
): readonly string[] {
  const { approver } = context.config;
  const { ref: policy } = context.snapshot;
  if (approver === undefined) return NONE;
  const asking = policiesIn(context.snapshot).filter(({ document }) => document.mode === 'control');
  if (asking.length === 0) return NONE;
  const candidates = asking.flatMap((one) => candidatesFor(one, ref.server_name, tool));
  const rules = candidates.flatMap(({ rule }) => (rule.kind === 'approval' ? rule.rule_id : []));
  const ruleIds = isJudged(context.config) ? [...rules, ...HUB_GATES] : rules;
  // A name that is not shown as it is could be another tool than the one that people saw.
  if (ruleIds.length === 0 || tool !== ref.tool_name) return NONE;
  const query = { ref, args, policyHash: policy.policy_hash };
  return approver.granted(queryOf(context, query, envelope), ruleIds);
}

/** Whether a grant satisfies what a gate asks for. Where nobody is asked, nothing is granted. */
export function isGranted(
  context: Context,
  { ref, tool, args, envelope }: Asked,
  ruleId: string,
): boolean {
  const { approver } = context.config;
  const { document, ref: policy } = context.snapshot;
  if (approver === undefined || document.mode === 'guardrails') return false;
  if (tool !== ref.tool_name) return false;
  const query = queryOf(context, { ref, args, policyHash: policy.policy_hash }, envelope);
  return approver.granted(query, [ruleId]).includes(ruleId);
}

/** The hub has gates of its own. */
function isJudged({ hub, asksAlways }: SessionConfig): boolean {
  return hub === true && asksAlways === true;
}

/**
 * Arguments that were not read have no hash yet: no grant for certain ones may fit them. Nor does one
 * that names some of the arguments fit a call with more than arguments.
 */
function queryOf(
  context: Context,
  query: GrantQuery,
  envelope: LazyEnvelope | undefined,
): GrantQuery {
  const { ref, args } = query;
  if (args() === undefined) return { ...query, ref: { ...ref, args_hash: '' } };
  const approved = approvalRef(context, { ref, envelope });
  return approved === ref ? query : { ...query, ref: approved, args: () => undefined };
}

/**
 * The call as people agree to it. Two calls with the same arguments and different `inputResponses`,
 * `task` or `_meta` are two calls, so their hash covers both here.
 */
export function approvalRef({ config }: Context, { ref, envelope }: Bound): ReadCall['ref'] {
  const bound = envelope?.bound;
  if (bound === undefined) return ref;
  return { ...ref, args_hash: config.sha256(`${ref.args_hash}\n${bound}`) };
}

interface Used {
  readonly read: ReadCall;
  readonly outcome: Pick<Judgement, 'decision' | 'trace' | 'gated'>;
  /** What a person has said; no grant is needed for that. */
  readonly said: readonly string[];
}

/** Uses up the grants that let a call pass; undefined when one of them is gone. */
export function takeGrants(context: Context, used: Used): readonly TakenGrant[] | undefined {
  const { read, outcome, said } = used;
  if (outcome.decision.action !== 'ALLOW') return [];
  const rules = outcome.trace.filter(isApproved).map(({ rule_id }) => rule_id);
  const gates = gateGrants(context, used);
  const needed = gates.length === 0 ? rules : [...new Set([...rules, ...gates])];
  const granted = needed.filter((rule) => !said.includes(rule));
  if (granted.length === 0) return [];
  const { ref, call, envelope } = read;
  const { policy_hash: policyHash } = context.snapshot.ref;
  const query = queryOf(context, { ref, args: () => call.args, policyHash }, envelope);
  return context.config.approver?.take(query, granted);
}

/** What gates have asked for. The hub does not tell which grants it needed: all have served. */
function gateGrants({ config }: Context, { read, outcome }: Used): readonly string[] {
  const here = outcome.gated?.granted ?? NONE;
  if (!read.shared || !isJudged(config)) return here;
  return [...here, ...HUB_GATES.filter((gate) => read.call.approved?.includes(gate))];
}

function isApproved({ kind, outcome }: TraceStep): boolean {
  return kind === 'approval' && outcome === 'approved';
}
