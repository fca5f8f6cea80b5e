// What is thought of a proposal before the policy decides: the guardian, by the tier of the action, and what the
// call would carry out of the machine. Both may only tighten.
import type { GuardrailsFile } from '@subluminal/contracts';
import { judgeEgress, sentMessage } from '../egress/index.ts';
import type { Guardian } from '../guardian/index.ts';
import type { Journal, StepState } from '../journal/index.ts';
import { type Permissions, tierOf } from '../permissions/index.ts';
import { channelOf } from './channel-of.ts';
import { isFromElsewhere } from './context.ts';
import type { RecalledRuns } from './recalled-runs.ts';
import { judgeRates } from './shared-rates.ts';
import type { Proposal, StepJudge } from './types.ts';

export interface JudgeParts {
  readonly guardian: Guardian;
  readonly config: () => {
    readonly permissions: Permissions;
    readonly guardrails: GuardrailsFile;
  };
  readonly journal: Journal;
  readonly recalled: Pick<RecalledRuns, 'hasAny'>;
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
      const { journal, nowMs } = parts;
      const limited = judgeRates({ journal, permissions, nowMs: nowMs() }, proposal);
      if (limited !== undefined) return { judgements: [limited], asksPerson: false };
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
  // Those that failed have left as well.
  const before = journal.steps(task.id).filter(({ state }) => LEFT.has(state));
  const knownServers = serversKnown(parts, proposal);
  // A call that is no message is not counted among them.
  const isMessage = sentMessage(proposal, now) !== undefined;
  const recent = (isMessage ? journal.history.forwardedSince(now - DAY_MS) : [])
    .map((step) => sentMessage(step, step.atMs))
    .filter((sent) => sent !== undefined);
  const { contacts, hosts } = egress;
  return judgeEgress({
    ...{
      server,
      tool,
      args,
      userWords,
      contacts,
      hosts,
      recent,
      before,
      knownServers,
      holdsSecret,
    },
    limits: egress,
    nowMs: now,
  });
}

const LEFT: ReadonlySet<StepState> = new Set(['forwarded', 'done', 'failed', 'unknown']);
/** Older tasks have mostly left the context, and with them what they have read. */
const TASKS_KNOWN = 10;
const MESSAGES_KNOWN = 20;

/** Whose answers the model knows from before this task, by itself or by what it was told. */
function serversKnown({ journal, recalled }: JudgeParts, proposal: Proposal): readonly string[] {
  const { conversation, task } = proposal;
  const { id, parentId } = conversation;
  const own = [id, ...(parentId === null ? [] : [parentId])];
  const workers = journal.subAgents.of(parentId ?? id);
  const told = journal
    .lastMessages(id, MESSAGES_KNOWN)
    .filter((message) => isFromElsewhere(journal, message))
    .flatMap(({ taskId }) => journal.task(taskId ?? '')?.conversationId ?? []);
  const tasks = { tasksMax: TASKS_KNOWN, exceptTask: task.id };
  const heard = [...new Set([...own, ...workers.map((one) => one.id), ...told])].flatMap((one) =>
    journal.history.heardIn(one, tasks).map(({ server }) => server),
  );
  const hasRecalled = own.some((one) => recalled.hasAny(journal.conversation(one)?.runId ?? ''));
  // A reminder was written by a model that knew more than it says. What a worker knows, its conversations tell.
  const isGiven = task.askedBy !== 'user' && parentId === null;
  const isCoded = workers.some(({ kind }) => kind === 'coding');
  return [
    ...heard,
    ...(hasRecalled ? ['memory'] : []),
    ...(isGiven ? ['reminder'] : []),
    ...(isCoded ? ['coding agent'] : []),
  ];
}
