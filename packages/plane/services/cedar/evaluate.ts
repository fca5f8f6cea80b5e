// Policies and a call → a decision. Every error on the way is a deny that names the error.
import type * as CedarWasm from '@cedar-policy/cedar-wasm/nodejs';
import type { Decision } from '@subluminal/contracts';
import { visible } from '@subluminal/core/policy';
import { buildQuestion, type CedarQuestion, type QuestionInput } from './build-request.ts';
import type { ParsedPolicy } from './parse-policies.ts';
import type { Cedar, CedarAnswer, CedarExplanation, CedarPolicy, CedarRequest } from './types.ts';

export type Engine = Pick<
  typeof CedarWasm,
  | 'checkParseEntities'
  | 'policyToJson'
  | 'preparsePolicySet'
  | 'schemaToJson'
  | 'statefulIsAuthorized'
  | 'validate'
>;

let loading: Promise<Engine> | undefined;

/** The engine is WebAssembly that is loaded with the first policies, and not before. */
export function loadEngine(): Promise<Engine> {
  loading ??= import('@cedar-policy/cedar-wasm/nodejs');
  return loading;
}

/**
 * The engine keeps parsed policy sets by name and cannot drop one, so names are used again.
 * Otherwise each reload would leak a policy set.
 */
const freeNames: string[] = [];
let namesUsed = 0;

function releaseName(engine: Engine, name: string): void {
  engine.preparsePolicySet(name, { staticPolicies: {} });
  freeNames.push(name);
}

interface LoadedPolicies {
  readonly engine: Engine;
  readonly policies: readonly ParsedPolicy[];
  readonly input: QuestionInput;
  readonly hash: string;
}

const ERRORS_MAX = 20;
const ANSWER_LENGTH_MAX = 400;
const NO_TEXT = { policyId: null, message: null, hint: null, reasonCode: null } as const;

/** Parses the policies once, for many calls. */
export function createEvaluator(loaded: LoadedPolicies): Cedar {
  const { engine, policies, hash } = loaded;
  const name = preparsePolicies(engine, policies);
  let isClosed = false;
  const decide = (request: CedarRequest): CedarAnswer => {
    if (isClosed) throw new Error('these Cedar policies are closed');
    return evaluate(request, loaded, name);
  };
  return {
    hash,
    policies: policies.map(publicPart),
    evaluate: decide,
    explain: (request) => explainAnswer(decide(request), loaded, request),
    close: () => {
      if (!isClosed) releaseName(engine, name);
      isClosed = true;
    },
  };
}

function preparsePolicies(engine: Engine, policies: readonly ParsedPolicy[]): string {
  const name = freeNames.pop() ?? `set-${namesUsed++}`;
  const staticPolicies = Object.fromEntries(policies.map(({ id, source }) => [id, source.text]));
  const answer = engine.preparsePolicySet(name, { staticPolicies });
  // Each policy was parsed by itself before.
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'policies');
  return name;
}

function evaluate(request: CedarRequest, loaded: LoadedPolicies, set: string): CedarAnswer {
  const question = buildQuestion(request, loaded.input);
  if ('why' in question) return deniedBy('unmappable', question.why);
  try {
    return authorize(question, loaded, set);
  } catch (cause) {
    return deniedBy('engine', cause instanceof Error ? cause.message : String(cause));
  }
}

function authorize(
  question: CedarQuestion,
  { engine, policies }: LoadedPolicies,
  set: string,
): CedarAnswer {
  const answer = engine.statefulIsAuthorized({ ...question, preparsedPolicySetId: set });
  if (answer.type === 'failure') {
    return deniedBy('engine', answer.errors[0]?.message ?? 'the request was refused');
  }
  const { decision, diagnostics } = answer.response;
  const failed = diagnostics.errors.map(({ policyId, error }) => {
    return { policyId, message: visible(error.message, ANSWER_LENGTH_MAX) };
  });
  const errors = failed.slice(0, ERRORS_MAX);
  const deciding = inFileOrder(policies, diagnostics.reason);
  const reasons = deciding.map(({ id }) => id);
  if (decision === 'deny') {
    const cause = deciding.length > 0 ? 'forbid' : 'no_permit';
    return { decision, cause, reasons, errors, ...denialText(deciding) };
  }
  // Cedar skips a policy that fails; one that might have forbidden the call must not be skipped.
  const permits = new Set(policies.filter(({ effect }) => effect === 'permit').map(({ id }) => id));
  const forbids = failed.filter(({ policyId }) => !permits.has(policyId));
  const [first] = forbids;
  if (first === undefined) return { decision, cause: 'permit', reasons, errors, ...NO_TEXT };
  const { policyId } = first;
  return {
    ...NO_TEXT,
    decision: 'deny',
    cause: 'forbid_failed',
    reasons: forbids.map((one) => one.policyId),
    errors,
    policyId,
    message: `The Cedar policy \`${policyId}\` could not be evaluated: ${first.message}.`,
  };
}

function deniedBy(cause: 'unmappable' | 'engine', why: string): CedarAnswer {
  const shown = visible(why, ANSWER_LENGTH_MAX);
  const message = `The call cannot be checked by the Cedar policies: ${shown}.`;
  return { ...NO_TEXT, decision: 'deny', cause, reasons: [], errors: [], message };
}

/** The engine names policies in any order; people read them in the order of the files. */
function inFileOrder(policies: readonly ParsedPolicy[], ids: Iterable<string>) {
  const wanted = new Set(ids);
  return policies.filter(({ id }) => wanted.has(id));
}

/** The text of the first policy with a text. */
function denialText(deciding: readonly CedarPolicy[]) {
  const [first] = deciding;
  if (first === undefined) return { ...NO_TEXT, message: 'No Cedar policy permits this call.' };
  const speaking = deciding.find(({ message, hint }) => message !== null || hint !== null) ?? first;
  const coded = [speaking, ...deciding].find(({ reasonCode }) => reasonCode !== null);
  const { id: policyId, hint } = speaking;
  const message = speaking.message ?? `The Cedar policy \`${policyId}\` forbids this call.`;
  return { policyId, message, hint, reasonCode: coded?.reasonCode ?? null };
}

/** Adds the permits that a forbid overrides, which the engine does not report by itself. */
function explainAnswer(
  answer: CedarAnswer,
  loaded: LoadedPolicies,
  request: CedarRequest,
): CedarExplanation {
  const { policies, engine, hash } = loaded;
  const satisfied = new Set(answer.cause === 'forbid_failed' ? [] : answer.reasons);
  if (answer.cause === 'forbid' || answer.cause === 'forbid_failed') {
    const permits = policies.filter(({ effect }) => effect === 'permit');
    const name = preparsePolicies(engine, permits);
    for (const id of evaluate(request, loaded, name).reasons) satisfied.add(id);
    releaseName(engine, name);
  }
  return {
    ...answer,
    deciding: inFileOrder(policies, answer.reasons).map(publicPart),
    satisfied: inFileOrder(policies, satisfied).map(publicPart),
    policyCount: policies.length,
    hash,
  };
}

function publicPart(policy: ParsedPolicy): CedarPolicy {
  const { source: _source, json: _json, ...shown } = policy;
  return shown;
}

/** The answer as a decision of contract C; undefined where Cedar lets the call pass. */
export function cedarRefusal(answer: CedarAnswer): Decision | undefined {
  if (answer.decision === 'allow') return undefined;
  const { cause, policyId, message, hint, reasonCode } = answer;
  const isUnavailable = cause === 'engine';
  const base = {
    rule_id: policyId === null ? null : `cedar:${policyId}`,
    severity: isUnavailable ? ('critical' as const) : ('warn' as const),
    reason_code: reasonCode ?? (isUnavailable ? 'CEDAR_UNAVAILABLE' : 'CEDAR_DENIED'),
    summary: message ?? 'The Cedar policies deny this call.',
  };
  if (hint === null) return { ...base, action: 'BLOCK' };
  return {
    ...base,
    action: 'REJECT_WITH_HINT',
    hint: { hint_text: hint, suggested_args: null, retry_advice: null, hint_kind: 'SAFETY' },
  };
}
