// A call may take several rounds: the server asks back, and the agent makes the same call again with
// the answers beside the arguments. That is no repeat of the call.
import { isObject } from '@subluminal/contracts';

/** What the agent answers in this round, as JSON; undefined in the first. */
function roundOf(beside: unknown): string | undefined {
  const params = isObject(beside) ? beside['params'] : undefined;
  if (!isObject(params)) return undefined;
  const { inputResponses, requestState } = params;
  if (inputResponses === undefined && requestState === undefined) return undefined;
  return JSON.stringify([inputResponses ?? null, requestState ?? null]);
}

export { roundOf };
