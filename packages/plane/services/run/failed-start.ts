// An agent that cannot be started, in the words and with the exit codes of a shell.
import { type Refused, refused } from './options.ts';

const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;

export function notStarted(command: string, why: 'not_found' | 'not_executable'): Refused {
  const name = JSON.stringify(command.slice(0, 256));
  return why === 'not_found'
    ? {
        ...refused('SUB_AGENT_START', `there is no command ${name}.`, 'Check the name and PATH.'),
        exitCode: EXIT_NOT_FOUND,
      }
    : {
        ...refused(
          'SUB_AGENT_START',
          `${name} cannot be executed.`,
          'Check that it is a program and may be run.',
        ),
        exitCode: EXIT_NOT_EXECUTABLE,
      };
}

export function startFailed(command: string, code: string): Refused {
  if (code === 'ENOENT') return notStarted(command, 'not_found');
  const name = JSON.stringify(command.slice(0, 256));
  const message = `${name} cannot be started (${code}).`;
  const fix = 'Check that it is a program for this system, and the limits of the system.';
  return { ...refused('SUB_AGENT_START', message, fix), exitCode: EXIT_NOT_EXECUTABLE };
}
