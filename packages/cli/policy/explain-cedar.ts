// Cedar policies beside the rules, for `sub policy explain`.
import { type Decision, type Failure, failure } from '@subluminal/contracts';
import type { Call, Explanation, Problem, Snapshot } from '@subluminal/core/policy';
import type { CedarExplanation, CedarPolicy } from '@subluminal/plane/cedar';
import type { Config } from '@subluminal/plane/config';
import type { Io } from '../terminal/io.ts';
import { renderProblem } from './render-problem.ts';

export interface CedarGate {
  readonly hash: string;
  readonly policyCount: number;
  /** The answer of Cedar to a call, and the decision of Cedar and the rules together. */
  explain(asked: AskedOfCedar): CedarSaid;
}

interface AskedOfCedar {
  readonly call: Call;
  readonly rules: Pick<Explanation, 'decision' | 'risk_class'>;
  readonly nowMs: number;
}

export interface CedarSaid {
  readonly answer: CedarExplanation;
  readonly decision: Decision;
}

const PROBLEMS_SHOWN_MAX = 20;

/** The policies that `--cedar` names, else those of the configuration; undefined without any. */
export async function openGate(
  path: string | undefined,
  { snapshot, config }: { readonly snapshot: Snapshot; readonly config: Config },
  io: Io,
): Promise<CedarGate | Failure | undefined> {
  const policies = config['cedar.policies'];
  if (policies === null) return undefined;
  const { loadCedar, cedarRefusal, cedarRequest } = await import('@subluminal/plane/cedar');
  const { weigh } = await import('@subluminal/plane/hub');
  const schema = config['cedar.schema'] ?? undefined;
  const opened = await loadCedar({
    policies: path ?? policies,
    schema,
    entities: config['cedar.entities'] ?? undefined,
  });
  printProblems(opened.problems, io);
  if (!opened.ok) {
    const message = `the Cedar policies of ${path ?? policies} cannot be used.`;
    return failure('SUB_CEDAR_FILES', message, 'Correct what is said above.');
  }
  const enforced = snapshot.document.mode !== 'observe' && snapshot.profile === 'production';
  const { cedar } = opened;
  return {
    hash: cedar.hash,
    policyCount: cedar.policies.length,
    explain({ call, rules, nowMs }) {
      const request = cedarRequest(call, { riskClass: rules.risk_class, nowMs });
      const answer = cedar.explain(request);
      const refusal = cedarRefusal(answer);
      const said = refusal === undefined ? [] : [{ decision: refusal, enforced }];
      return { answer, decision: weigh(rules.decision, said) };
    },
  };
}

function printProblems(problems: readonly Problem[], io: Io): void {
  const { colors, columns, write } = io.err;
  for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) {
    write(renderProblem(problem, { lines: [], colors, columns }));
  }
}

/** Permits that are satisfied, but outvoted: a forbid weighs more than any permit. */
export function outvotedIn({ deciding, satisfied }: CedarExplanation): readonly CedarPolicy[] {
  const ids = new Set(deciding.map(({ id }) => id));
  return satisfied.filter(({ id, effect }) => effect === 'permit' && !ids.has(id));
}

/** As `--json` has it. */
export function cedarReport(answer: CedarExplanation) {
  const { decision, cause, deciding, errors, hash, policyCount } = answer;
  return {
    decision,
    cause,
    message: answer.message,
    hint: answer.hint,
    deciding: deciding.map(policyReport),
    outvoted: outvotedIn(answer).map(policyReport),
    errors: errors.map(({ policyId, message }) => ({ policy_id: policyId, message })),
    policies: policyCount,
    hash,
  };
}

function policyReport({ id, effect, file, position, message, hint, reasonCode }: CedarPolicy) {
  return { id, effect, file, ...position, message, hint, reason_code: reasonCode };
}
