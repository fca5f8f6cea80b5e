// The Cedar policies that runs are asked about: whether they are there, and can be used.
import { formatProblem } from '@subluminal/core/policy';
import { broken, type Check, ok, warn } from './check.ts';

const PROBLEMS_SHOWN_MAX = 20;

export const cedar: Check = {
  id: 'cedar',
  run: async ({ loaded }) => {
    if (!loaded.ok) {
      const fix = 'Correct the configuration first.';
      return warn('the configuration cannot be read, so nobody knows where they are', fix);
    }
    const { config } = loaded;
    const policies = config['cedar.policies'];
    if (policies === null) return ok('none are configured');
    const { loadCedar } = await import('@subluminal/plane/cedar');
    const schema = config['cedar.schema'] ?? undefined;
    const entities = config['cedar.entities'] ?? undefined;
    const opened = await loadCedar({ policies, schema, entities });
    const more = opened.problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
    if (!opened.ok) {
      const fix = 'Do what is listed; in production, no run starts and no call passes with them.';
      return { ...broken(`the policies of ${policies} cannot be used`, fix), more };
    }
    const { length } = opened.cedar.policies;
    opened.cedar.close();
    const count = length === 1 ? '1 policy' : `${length} policies`;
    const text = `${count} of ${policies}, asked in \`sub run\` and \`sub wrap\` only`;
    return more.length === 0 ? ok(text) : { ...warn(text, 'Look at what is listed.'), more };
  },
};
