// Open requests when time passes, and when either side ends.
import { errorLine, exitWords, INTERNAL_ERROR } from './answer-lines.ts';
import { type MessageStep, type OpenRequest, report } from './context.ts';
import { abandonHeld, tickHeld } from './held-calls.ts';
import { endUnanswered } from './record-call.ts';
import { endTasks, tickTasks } from './task-answers.ts';
import type { ServerExit } from './types.ts';

/** Requests that stay open for as long as the agent wants: a stream of notifications, a task that goes on. */
const LASTING: ReadonlySet<string> = new Set(['subscriptions/listen', 'tasks/result']);

/** Reports requests that are open for too long; their answers may still pass. */
export function tick(step: MessageStep): void {
  tickHeld(step);
  tickTasks(step);
  for (const side of ['agent', 'server'] as const) {
    for (const open of [...step.context.requests[side].entries()]) {
      // The oldest come first.
      if (step.nowMs - open.sinceMs < step.context.limits.orphanMs) break;
      if (open.heldAs === undefined && !LASTING.has(open.method)) {
        orphan({ ...step, from: side }, open);
      }
    }
  }
}

function orphan(step: MessageStep, open: OpenRequest): void {
  step.context.requests[step.from].end(open, 'lost', step.nowMs);
  const waitedMs = step.nowMs - open.sinceMs;
  const message = `No answer within ${Math.round(waitedMs)} ms.`;
  const detail = `A request for \`${open.method.slice(0, 100)}\` is lost. ${message}`;
  report(step, { what: 'NOTICED', reason: 'orphan', detail });
  const error = { class: 'timeout', message, retryable: true } as const;
  endUnanswered(step, open, { status: 'TIMEOUT', error });
}

/** The server has exited: every request that waits for it gets an error. */
export function serverExited(step: MessageStep, exit: ServerExit): void {
  const { context } = step;
  if (context.exit !== undefined) return;
  context.exit = exit;
  const message = exitWords(context);
  const error = { class: 'transport', message } as const;
  const { agent, server } = context.requests;
  for (const open of [...agent.entries()]) {
    if (open.heldAs !== undefined) abandonHeld(step, open.heldAs);
    endUnanswered(step, open, { status: 'ERROR', error });
    const id = { type: 'string', json: open.idJson } as const;
    const text = errorLine(id, { code: INTERNAL_ERROR, message });
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  agent.clear();
  server.clear();
  endTasks(step, { status: 'ERROR', error });
}

/** The agent is gone: its requests have ended, and nobody is answered. */
export function agentClosed(step: MessageStep): void {
  const { held, requests } = step.context;
  for (const callId of [...held.keys()]) abandonHeld(step, callId);
  for (const open of requests.agent.entries()) endUnanswered(step, open, { status: 'CANCELLED' });
  requests.agent.clear();
  endTasks(step, { status: 'CANCELLED' });
}
