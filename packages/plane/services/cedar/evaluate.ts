// Policies and a call → a decision. Whatever goes wrong on the way is a deny that says so.
import { visible } from '@subluminal/core/policy';
import { type Engine, giveBack, takeName } from './engine.ts';
import type { ParsedPolicy } from './policies.ts';
import { type Asking, ask, type Question } from './request.ts';
import type {
  Cedar,
  CedarAnswer,
  CedarError,
  CedarExplanation,
  CedarPolicy,
  CedarRequest,
} from './types.ts';

interface Loaded {
  readonly engine: Engine;
  readonly policies: readonly ParsedPolicy[];
  readonly asking: Asking;
  readonly hash: string;
}

const ERRORS_MAX = 20;
const MESSAGE_LENGTH_MAX = 400;
const NO_WORDS = { speaker: null, message: null, hint: null, reasonCode: null } as const;

/** The policies, parsed once and ready for calls. */
export function ready(loaded: Loaded): Cedar {
  const { engine, policies, hash } = loaded;
  const name = parsed(engine, policies);
  const shown = policies.map(publicPart);
  let closed = false;
  const decide = (request: CedarRequest, set: string): CedarAnswer => {
    if (closed) throw new Error('these Cedar policies are closed');
    return evaluate(request, loaded, set);
  };
  return {
    hash,
    policies: shown,
    evaluate: (request) => decide(request, name),
    explain: (request) => explained(decide(request, name), { loaded, request }),
    close: () => {
      if (!closed) giveBack(engine, name);
      closed = true;
    },
  };
}

function parsed(engine: Engine, policies: readonly ParsedPolicy[]): string {
  const name = takeName();
  const staticPolicies = Object.fromEntries(policies.map(({ id, piece }) => [id, piece.text]));
  const answer = engine.preparsePolicySet(name, { staticPolicies });
  // Each policy has been parsed before by itself.
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'policies');
  return name;
}

function evaluate(request: CedarRequest, loaded: Loaded, set: string): CedarAnswer {
  const asked = ask(request, loaded.asking);
  if (!asked.ok) return refused('unmappable', asked.why);
  try {
    return answered(asked.question, loaded, set);
  } catch (cause) {
    return refused('engine', cause instanceof Error ? cause.message : String(cause));
  }
}

function answered(question: Question, { engine, policies }: Loaded, set: string): CedarAnswer {
  const answer = engine.statefulIsAuthorized({ ...question, preparsedPolicySetId: set });
  if (answer.type === 'failure') {
    return refused('engine', answer.errors[0]?.message ?? 'the request was refused');
  }
  const { decision, diagnostics } = answer.response;
  const errors = diagnostics.errors.map(({ policyId, error }): CedarError => {
    return { policyId, message: visible(error.message, MESSAGE_LENGTH_MAX) };
  });
  const reasons = inOrder(policies, diagnostics.reason);
  const listed = { reasons: reasons.map(({ id }) => id), errors: errors.slice(0, ERRORS_MAX) };
  if (decision === 'deny') {
    const cause = reasons.length > 0 ? 'forbid' : 'no_permit';
    return { decision, cause, ...listed, ...wordsFor(reasons) };
  }
  // Cedar skips a policy that fails; one that might have forbidden the call must not be skipped.
  const permits = new Set(policies.filter(({ effect }) => effect === 'permit').map(({ id }) => id));
  const failed = errors.filter(({ policyId }) => !permits.has(policyId));
  if (failed.length === 0) return { decision, cause: 'permit', ...listed, ...NO_WORDS };
  const [first] = failed;
  return {
    decision: 'deny',
    cause: 'forbid_failed',
    reasons: failed.map(({ policyId }) => policyId),
    errors: listed.errors,
    speaker: first?.policyId ?? null,
    message: `The Cedar policy \`${first?.policyId}\` could not be evaluated: ${first?.message}.`,
    hint: null,
    reasonCode: null,
  };
}

function refused(cause: 'unmappable' | 'engine', why: string): CedarAnswer {
  const said = visible(why, MESSAGE_LENGTH_MAX);
  const message = `The call cannot be checked by the Cedar policies: ${said}.`;
  return {
    decision: 'deny',
    cause,
    reasons: [],
    errors: [],
    speaker: null,
    message,
    hint: null,
    reasonCode: null,
  };
}

/** The engine names them in any order; people read them in the order of the files. */
function inOrder(
  policies: readonly ParsedPolicy[],
  ids: readonly string[],
): readonly ParsedPolicy[] {
  const wanted = new Set(ids);
  return policies.filter(({ id }) => wanted.has(id));
}

/** What a deny says: the words of the first policy that has any. */
function wordsFor(reasons: readonly CedarPolicy[]) {
  const [first] = reasons;
  if (first === undefined) {
    return { ...NO_WORDS, message: 'No Cedar policy permits this call.' };
  }
  const spoken = reasons.find(({ message, hint }) => message !== null || hint !== null) ?? first;
  const { message, hint } = spoken;
  const reasonCode =
    spoken.reasonCode ?? reasons.find((one) => one.reasonCode !== null)?.reasonCode;
  const plain = `The Cedar policy \`${spoken.id}\` forbids this call.`;
  return { speaker: spoken.id, message: message ?? plain, hint, reasonCode: reasonCode ?? null };
}

/** With the permits that a forbid has outvoted, which the engine does not tell of by itself. */
function explained(
  answer: CedarAnswer,
  { loaded, request }: { readonly loaded: Loaded; readonly request: CedarRequest },
): CedarExplanation {
  const { policies, engine, hash } = loaded;
  const deciding = inOrder(policies, answer.reasons);
  const satisfied = new Set(answer.cause === 'forbid_failed' ? [] : answer.reasons);
  if (answer.cause === 'forbid' || answer.cause === 'forbid_failed') {
    const name = parsed(
      engine,
      policies.filter(({ effect }) => effect === 'permit'),
    );
    for (const id of evaluate(request, loaded, name).reasons) satisfied.add(id);
    giveBack(engine, name);
  }
  return {
    ...answer,
    deciding: deciding.map(publicPart),
    satisfied: inOrder(policies, [...satisfied]).map(publicPart),
    policyCount: policies.length,
    hash,
  };
}

function publicPart(policy: ParsedPolicy): CedarPolicy {
  const { piece: _piece, json: _json, ...shown } = policy;
  return shown;
}
