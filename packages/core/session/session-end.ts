// What time, and the end of either side, do to the requests that are open.
import { errorLine, exitWords, INTERNAL_ERROR } from './answer-lines.ts';
import { type Context, type MessageStep, type OpenRequest, report } from './context.ts';
import { abandonHeld, tickHeld } from './held-calls.ts';
import { endUnanswered } from './record-call.ts';
import type { ServerExit, Side } from './types.ts';

/** Requests that were open for too long are told of; their answers may still pass. */
export function tick(context: Context, step: MessageStep): void {
  tickHeld(context, step);
  for (const side of ['agent', 'server'] as const) {
    const due: OpenRequest[] = [];
    for (const open of context.requests[side].entries()) {
      // The oldest come first.
      if (step.nowMs - open.sinceMs < context.limits.orphanMs) break;
      if (open.heldAs === undefined) due.push(open);
    }
    for (const open of due) orphan(context, { ...step, from: side }, open);
  }
}

function orphan(context: Context, step: MessageStep, open: OpenRequest): void {
  context.requests[step.from].end(open, 'lost', step.nowMs);
  const waitedMs = step.nowMs - open.sinceMs;
  const message = `No answer within ${Math.round(waitedMs)} ms.`;
  const detail = `A request for \`${open.method.slice(0, 100)}\` is lost. ${message}`;
  report(step, { what: 'NOTICED', reason: 'orphan', detail });
  const error = { class: 'timeout', message, retryable: true } as const;
  endUnanswered(context, step, { open, status: 'TIMEOUT', error });
}

/** The server is gone: every request that waits for it gets an error. */
export function serverExited(context: Context, step: MessageStep, exit: ServerExit): void {
  if (context.exit !== undefined) return;
  context.exit = exit;
  const message = exitWords(context);
  const { agent, server } = context.requests;
  const waiting = [...agent.entries()];
  for (const open of waiting) {
    if (open.heldAs !== undefined) abandonHeld(context, step, open.heldAs);
    const error = { class: 'transport', message } as const;
    endUnanswered(context, step, { open, status: 'ERROR', error });
    const id = { type: 'string', json: open.idJson } as const;
    const text = errorLine(id, { code: INTERNAL_ERROR, message });
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  agent.clear();
  server.clear();
}

/** The agent is gone: what it waited for has ended, and nobody is answered. */
export function agentClosed(context: Context, step: MessageStep): void {
  for (const callId of [...context.held.keys()]) abandonHeld(context, step, callId);
  for (const open of context.requests.agent.entries()) {
    endUnanswered(context, step, { open, status: 'CANCELLED' });
  }
  context.requests.agent.clear();
}

/** How many requests of a side are open. */
export function openCount(context: Context, side: Side): number {
  return context.requests[side].size;
}
