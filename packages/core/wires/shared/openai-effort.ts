import type { Degraded } from './degraded.ts';
import type { Reasoning } from './form.ts';

/** The effort on the OpenAI wires. Thinking that is given in tokens, or left to the model, has no word there. */
export function openAiEffort(
  reasoning: Reasoning | undefined,
  degraded: Degraded,
): string | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.effort === 'max') {
    degraded.add('reasoning_effort');
    return 'xhigh';
  }
  if (reasoning.effort !== undefined) return reasoning.effort;
  if (reasoning.mode === 'budget' || reasoning.mode === 'adaptive') {
    degraded.add('extended_thinking');
  }
  return undefined;
}
