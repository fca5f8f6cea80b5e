// Commands that loosen, approve, reveal or erase are for a person, not for the agent that is governed.

import { type Failure, failure } from '@subluminal/contracts';
import { homePaths } from '@subluminal/plane/config';
import { personProblem, terminalProblem } from '@subluminal/plane/identity';
import { thisSystem } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import type { Requirement } from './command.ts';

const OUTSIDE = 'Run it in a terminal of your own, outside of the run.';
const OLDER =
  'Run it in a terminal that was open before the run began or that comes from a login, or answer by a channel or the HTTP API.';
const THERE =
  'Run it in that container, in a terminal of your own. If that container is gone, remove the files `agent-*` from the folder `run` of SUB_HOME.';
const TYPED =
  'Run it in a terminal of your own; a script answers by the HTTP API, which has a login.';

/** Why this process may not run such a command; undefined when it may. */
export function mayAct(
  requirement: Requirement,
  io: Pick<Io, 'stdinIsTerminal'>,
): Failure | undefined {
  const system = thisSystem();
  const problem = personProblem({
    env: process.env,
    runDir: homePaths(process.env).run,
    homeOf: (env) => homePaths(env).home,
    system,
  });
  if (problem?.kind === 'inside') {
    const message = `this command is for a person, and this is inside a governed run: ${problem.what}.`;
    return failure('SUB_INSIDE_RUN', message, OUTSIDE);
  }
  if (problem !== undefined) {
    const message = `this command is for a person, and an agent may have started it: ${problem.what}.`;
    return failure('SUB_INSIDE_RUN', message, problem.kind === 'elsewhere' ? THERE : OLDER);
  }
  if (requirement !== 'terminal') return undefined;
  const terminal = terminalProblem(io.stdinIsTerminal, system);
  if (terminal === undefined) return undefined;
  return failure('SUB_TERMINAL_NEEDED', `only a person at a terminal decides: ${terminal}.`, TYPED);
}
