// One proposal, from the journal to its end. Whatever a crash interrupts goes on from what the journal
// says, and nothing that may have happened is done again.
import type { JsonObject } from '@subluminal/contracts';
import type { AgentOutcome, Judgement } from '@subluminal/plane/agent-run';
import type { Journal, JournalStep, JournalTask, StepState } from '../journal/index.ts';
import type { TaskParts } from './types.ts';
import type { WorkClock } from './work-clock.ts';

interface StepInput {
  readonly task: JournalTask;
  readonly step: JournalStep;
  /** The call may be sent again with its key. */
  readonly isRepeatable: boolean;
  readonly clock: WorkClock;
  readonly signal: AbortSignal;
}

const UNKNOWN =
  'It is not known whether this call took effect: it was interrupted before its answer came. It was not repeated. Find out by reading, or ask the user.';

export async function performStep(parts: TaskParts, input: StepInput): Promise<void> {
  const { journal } = parts;
  const { step, isRepeatable } = input;
  if (step.state === 'forwarded' && !isRepeatable) {
    return journal.changeStep(step, { state: 'unknown', result: UNKNOWN });
  }
  const opinion = await parts.judge.judge(proposalOf(parts, input), input.signal);
  journal.changeStep(step, { state: 'judged', judgements: opinion.judgements.map(toJson) });
  if (input.signal.aborted) return;
  const call = async () => sendStep(parts, input, opinion.judgements);
  const { outcome, wasForwarded } = await (opinion.asksPerson ? input.clock.paused(call) : call());
  // Withdrawn before it left: the step stays open, and is taken up again when the task is.
  if (input.signal.aborted && !wasForwarded && outcome.kind !== 'answered') return;
  endStep(parts, input, outcome);
}

function proposalOf({ conversation, journal, run }: TaskParts, { task, step }: StepInput) {
  const { server, tool, args, reasoning, key } = step;
  return {
    ...{ server, tool, args, reasoning, key, conversation, task, runId: run.id },
    request: requestOfUser(journal, task),
    userWords: journal.userWords(conversation.parentId ?? conversation.id, WORDS_OF_TASKS_MAX),
  };
}

const WORDS_OF_TASKS_MAX = 50;

/** What the user has asked for in this task, or in the one that a sub-agent works for. */
function requestOfUser(journal: Journal, task: JournalTask): string {
  const asked = task.parentId === null ? task : journal.task(task.parentId);
  return asked?.askedBy === 'user' ? asked.request : '';
}

async function sendStep(
  { journal, run, conversation }: TaskParts,
  { task, step, signal }: StepInput,
  judgements: readonly Judgement[],
) {
  journal.changeStep(step, { state: 'sent', runId: run.id });
  const { server, tool, args, key, reasoning } = step;
  const request = requestOfUser(journal, task);
  const about = {
    reasoning,
    task: task.id,
    channel: conversation.channel,
    ...(request !== '' && { request }),
  };
  // On the disk before the bytes leave: after a crash, `forwarded` means that it may have happened.
  let wasForwarded = false;
  const onForward = () => {
    journal.changeStep(step, { state: 'forwarded' });
    wasForwarded = true;
  };
  const call = { server, tool, args, key, judgements, about, signal, onForward };
  return { outcome: await run.call(call), wasForwarded };
}

function endStep({ journal }: TaskParts, input: StepInput, outcome: AgentOutcome): void {
  const { step } = input;
  switch (outcome.kind) {
    case 'answered': {
      const { callId, text, isError } = outcome;
      const state: StepState = isError ? 'failed' : 'done';
      return journal.changeStep(step, { state, callId, result: text || '(an empty answer)' });
    }
    case 'refused': {
      const { callId, summary, hint } = outcome;
      const advice = hint === undefined || summary.includes(hint) ? '' : `\nHint: ${hint}`;
      const result = `Refused: ${summary}${advice}`;
      return journal.changeStep(step, { state: 'refused', callId, result });
    }
    case 'failed': {
      const isUnclear = outcome.wasForwarded && !input.isRepeatable;
      const result = `Failed: ${outcome.message}${isUnclear ? ` ${UNKNOWN}` : ''}`;
      return journal.changeStep(step, { state: isUnclear ? 'unknown' : 'failed', result });
    }
  }
}

function toJson({ by, verdict, reason, model }: Judgement): JsonObject {
  return { by, verdict, reason, ...(model !== undefined && { model }) };
}
