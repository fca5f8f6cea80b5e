// Commands that loosen, approve, reveal or erase are for a person, not for the agent that is governed.

import { type Failure, failure } from '@subluminal/contracts';
import { homePaths } from '@subluminal/plane/config';
import { personFailure, terminalProblem } from '@subluminal/plane/identity';
import { thisSystem } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import type { Requirement } from './command.ts';

const TYPED =
  'Run it in a terminal of your own; a script answers by the HTTP API, which has a login.';

/** Why this process may not run such a command; undefined when it may. */
export function mayAct(
  requirement: Requirement,
  io: Pick<Io, 'stdinIsTerminal'>,
): Failure | undefined {
  const system = thisSystem();
  const inside = personFailure({
    env: process.env,
    runDir: homePaths(process.env).run,
    homeOf: (env) => homePaths(env).home,
    system,
  });
  if (inside !== undefined || requirement !== 'terminal') return inside;
  const terminal = terminalProblem(io.stdinIsTerminal, system);
  if (terminal === undefined) return undefined;
  return failure('SUB_TERMINAL_NEEDED', `only a person at a terminal decides: ${terminal}.`, TYPED);
}
