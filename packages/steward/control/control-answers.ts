// What the journal has, as commands and the page are told.
import type { StewardAnswers } from '@subluminal/contracts';
import type { Journal, JournalMessage, JournalTask } from '../journal/index.ts';

type ToldTask = StewardAnswers['tasks']['tasks'][number];
type ToldUpdates = StewardAnswers['updates'];

export function taskAnswer(journal: Journal, task: JournalTask): ToldTask {
  const { id, conversationId, purpose, askedBy, request, state, reason, costMicros } = task;
  const steps = journal.steps(id).map(({ n, server, tool, args, reasoning, ...step }) => ({
    ...{ n, server, tool, args, reasoning, state: step.state },
    judgements: step.judgements.map(({ by, verdict, reason: why }) => ({
      by: textOf(by),
      verdict: textOf(verdict),
      reason: textOf(why),
    })),
    call_id: step.callId,
    run_id: step.runId,
    result: step.result,
  }));
  return {
    ...{ id, conversation_id: conversationId, purpose, asked_by: askedBy, request, state, reason },
    cost_micros: costMicros,
    created_at_ms: task.createdAtMs,
    ended_at_ms: task.endedAtMs,
    steps,
  };
}

/** A judgement of the journal is JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function messageAnswer({ n, role, text, taskId, atMs }: JournalMessage) {
  return { n, role, text, task_id: taskId, at_ms: atMs };
}

interface UpdatesQuery {
  readonly conversationId: string;
  readonly after: number;
  /** Those of this conversation. */
  readonly openChanges: () => ToldUpdates['open_changes'];
}

export function updatesAnswer(
  journal: Journal,
  { conversationId, after, openChanges }: UpdatesQuery,
): ToldUpdates {
  const open = journal.openTasks(conversationId);
  const subAgents = journal.subAgents
    .open()
    .filter((agent) => agent.conversationId === conversationId);
  const [last] = journal.lastTasksOf(conversationId, 1);
  const tasks = [...open, ...(last === undefined ? [] : [last])];
  const shown = new Map(tasks.map((task) => [task.id, task]));
  return {
    version: journal.version,
    run_id: journal.conversation(conversationId)?.runId ?? null,
    sub_agent_runs: subAgents
      .map(({ id }) => journal.conversation(id)?.runId)
      .filter((id) => typeof id === 'string'),
    messages: journal.messagesAfter(after, conversationId).map(messageAnswer),
    tasks: [...shown.values()].map((task) => taskAnswer(journal, task)),
    open_changes: open.length === 0 ? openChanges() : [],
    is_idle: open.length === 0 && subAgents.length === 0,
  };
}

export function spendingAnswer(
  journal: Journal,
  nowMs: number,
): StewardAnswers['status']['spending'] {
  return journal.spendingOn(nowMs).map((spent) => ({
    purpose: spent.purpose,
    turns: spent.turns,
    steps: spent.steps,
    input_tokens: spent.inputTokens,
    output_tokens: spent.outputTokens,
    cost_micros: spent.costMicros,
    work_ms: spent.workMs,
  }));
}

const DAY_MS = 86_400_000;
const ALERTS_SHOWN = 50;

export function alertsAnswer(journal: Journal, nowMs: number): StewardAnswers['status']['alerts'] {
  return journal.alerts.since(nowMs - DAY_MS, ALERTS_SHOWN).map((alert) => ({
    ...{ id: alert.n, cause: alert.cause, text: alert.text, count: alert.count },
    last_at_ms: alert.lastAtMs,
    is_told: alert.isTold,
    acknowledged: alert.acknowledged && {
      by: alert.acknowledged.by,
      at_ms: alert.acknowledged.atMs,
    },
  }));
}
