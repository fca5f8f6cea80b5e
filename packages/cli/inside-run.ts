// Whether it is an agent that runs this command, and not a person.
import { homePaths } from '@subluminal/plane/config';
import { agentAbove, thisSystem } from '@subluminal/plane/identity';

/**
 * An agent that may run commands could allow itself more. This stops one that tries; one that hides
 * where it comes from is only stopped by running it as another user.
 */
function isInsideRun(): boolean {
  if ((process.env['SUB_RUN_ID'] ?? '') !== '') return true;
  // A person has a terminal, also in one that an agent's editor has opened.
  if (process.stdin.isTTY) return false;
  return agentAbove(homePaths(process.env).run, thisSystem()) !== undefined;
}

export { isInsideRun };
