// A second model judges what the agent proposes, in a context that nothing from outside has touched. It may only
// tighten: its ALLOW changes nothing, and whatever goes wrong asks a person.
import { randomBytes } from 'node:crypto';
import { type GuardrailsFile, isFailure, type PermissionTier } from '@subluminal/contracts';
import type { Judgement } from '@subluminal/plane/agent-run';
import type { ModelAnswer, Models } from '../models/index.ts';
import { caseMessage, type GuardianCase } from './case-message.ts';
import { GUARDIAN_PROMPT, PROMPT_VERSION } from './prompt.ts';
import { readVerdict } from './read-verdict.ts';

export interface GuardianQuestion extends GuardianCase {
  readonly runId: string;
  /** Whether a person can be asked. Where nobody can, what would ask is blocked. */
  readonly isAttended: boolean;
  readonly signal?: AbortSignal;
}

export interface Guardian {
  /** Undefined for an action of a tier that is not judged. Never rejects. */
  judge(question: GuardianQuestion): Promise<Judgement | undefined>;
}

export interface GuardianOptions {
  readonly models: Models;
  readonly settings: () => GuardrailsFile['guardian'];
  readonly nowMs: () => number;
}

const TOKENS_MAX = 1_024;
const PER_MINUTE_MAX = 60;
const MINUTE_MS = 60_000;

export function openGuardian({ models, settings, nowMs }: GuardianOptions): Guardian {
  let judgedMs: readonly number[] = [];
  return {
    judge(question) {
      const { enabled, skip, timeout_s } = settings();
      if (!enabled || isSkipped(skip, question.policy.tier)) return Promise.resolve(undefined);
      const now = nowMs();
      judgedMs = judgedMs.filter((atMs) => now - atMs < MINUTE_MS);
      if (judgedMs.length >= PER_MINUTE_MAX) {
        const why = `more than ${PER_MINUTE_MAX} actions were proposed in a minute`;
        return Promise.resolve(undecided(question, why));
      }
      judgedMs = [...judgedMs, now];
      return judgeProposal(models, { ...question, timeoutMs: timeout_s * 1_000 });
    },
  };
}

/** What is forbidden is refused whatever it says. */
function isSkipped(skip: readonly string[], tier: PermissionTier): boolean {
  return tier === 'forbidden' || skip.includes(tier);
}

/** Never rejects. */
export async function judgeProposal(
  models: Models,
  question: GuardianQuestion & { readonly timeoutMs: number },
): Promise<Judgement> {
  const { runId, timeoutMs, signal: stopped } = question;
  const caseId = randomBytes(8).toString('hex');
  const message = caseMessage(question, caseId);
  if (message.kind === 'too_large') return undecided(question, 'the action is too large to judge');
  const ownSignal = AbortSignal.timeout(timeoutMs);
  const asked = models.ask({
    purpose: 'guardian',
    runId,
    system: GUARDIAN_PROMPT,
    messages: [{ role: 'user', text: message.text }],
    tokensMax: TOKENS_MAX,
    signal: stopped === undefined ? ownSignal : AbortSignal.any([stopped, ownSignal]),
  });
  const answer = await asked.catch(() => undefined);
  if (answer === undefined || isFailure(answer)) {
    const why = ownSignal.aborted ? 'it gave no verdict in time' : 'it could not be asked';
    return undecided(question, why);
  }
  return judgementOf(question, { answer, caseId });
}

function judgementOf(
  question: GuardianQuestion,
  { answer, caseId }: { readonly answer: ModelAnswer; readonly caseId: string },
): Judgement {
  const model = `${answer.model} (prompt ${PROMPT_VERSION})`;
  if (answer.stop !== 'end' || answer.uses.length > 0) {
    return { ...undecided(question, 'it did not answer with a verdict'), model };
  }
  const read = readVerdict(answer.text, caseId);
  if (read.kind === 'unreadable') return { ...undecided(question, read.why), model };
  const { verdict, reason } = read;
  if (verdict === 'ESCALATE_TO_HUMAN' && !question.isAttended) {
    return { by: 'guardian', verdict: 'BLOCK', reason: `${reason} ${NOBODY}`, model };
  }
  return { by: 'guardian', verdict, reason, model };
}

const NOBODY = 'Nobody can be asked.';

function undecided({ isAttended }: GuardianQuestion, why: string): Judgement {
  const reason = `The guardian has not decided: ${why}.`;
  if (isAttended) return { by: 'guardian', verdict: 'ESCALATE_TO_HUMAN', reason };
  return { by: 'guardian', verdict: 'BLOCK', reason: `${reason} ${NOBODY}` };
}
