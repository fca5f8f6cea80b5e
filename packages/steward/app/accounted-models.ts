import { isFailure } from '@subluminal/contracts';
import type { Journal } from '../journal/index.ts';
import type { Models } from '../models/index.ts';

/** Models whose answers are written down with what they cost; the turns of a task are by their task. */
export function accountedModels(models: Models, journal: Journal, nowMs: () => number): Models {
  return {
    ask: async (question) => {
      const answer = await models.ask(question);
      if (isFailure(answer)) return answer;
      const { inputTokens, outputTokens, costMicros } = answer;
      // Its time is that of the step which waits for it.
      const used = { inputTokens, outputTokens, costMicros, workMs: 0, atMs: nowMs() };
      journal.spend({ purpose: question.purpose, taskId: null, ...used });
      return answer;
    },
  };
}
