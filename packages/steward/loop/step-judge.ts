// What is thought of a proposal before the policy decides: the guardian, by the tier of the action, and what the
// call would carry out of the machine. Both may only tighten.
import type { GuardrailsFile, StewardChannel } from '@subluminal/contracts';
import { judgeEgress, sentMessage } from '../egress/index.ts';
import type { Guardian } from '../guardian/index.ts';
import type { Journal } from '../journal/index.ts';
import { type Permissions, tierOf } from '../permissions/index.ts';
import type { Proposal, StepJudge } from './types.ts';

export interface JudgeParts {
  readonly guardian: Guardian;
  readonly config: () => {
    readonly permissions: Permissions;
    readonly guardrails: GuardrailsFile;
  };
  readonly journal: Journal;
  /** Whether a text shows a secret that Steward itself uses. */
  readonly holdsSecret: (text: string) => boolean;
  readonly nowMs: () => number;
}

const DAY_MS = 86_400_000;

export function stepJudge(parts: JudgeParts): StepJudge {
  return {
    judge: async (proposal, signal) => {
      const { permissions } = parts.config();
      const channel = channelOf(proposal.conversation.channel);
      const tier = tierOf(permissions, { ...proposal, channel });
      // The policy refuses it whatever anybody thinks.
      if (tier === 'forbidden') return { judgements: [], asksPerson: false };
      const { server, tool, args: params, reasoning, request, runId } = proposal;
      const guarded = await parts.guardian.judge({
        userMessage: request,
        proposal: { server, tool, params, reasoning },
        policy: { tier, rules: permissions.file.tiers[tier].description ?? '' },
        runId,
        isAttended: channel !== 'schedule',
        signal,
      });
      const judgements = [...(guarded === undefined ? [] : [guarded]), egressOf(parts, proposal)];
      const escalated = judgements.some(({ verdict }) => verdict === 'ESCALATE_TO_HUMAN');
      return { judgements, asksPerson: tier === 'human_approval' || escalated };
    },
  };
}

function egressOf(parts: JudgeParts, proposal: Proposal) {
  const { config, journal, holdsSecret, nowMs } = parts;
  const { egress } = config().guardrails;
  const now = nowMs();
  const { server, tool, args, userWords, task } = proposal;
  const before = journal.steps(task.id).filter(({ state }) => state === 'done');
  // A call that is no message is not counted among them.
  const isMessage = sentMessage(proposal, now) !== undefined;
  const recent = (isMessage ? journal.forwardedSince(now - DAY_MS) : [])
    .map((step) => sentMessage(step, step.atMs))
    .filter((sent) => sent !== undefined);
  const { contacts, hosts } = egress;
  return judgeEgress({
    ...{ server, tool, args, userWords, contacts, hosts, recent, before, holdsSecret },
    limits: egress,
    nowMs: now,
  });
}

const CHANNELS: readonly StewardChannel[] = [
  'terminal',
  'web',
  'telegram',
  'slack',
  'whatsapp',
  'signal',
  'discord',
];

/** What is on no channel runs by a schedule. */
export function channelOf(name: string): StewardChannel {
  return CHANNELS.find((channel) => channel === name) ?? 'schedule';
}
