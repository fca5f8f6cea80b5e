// Commands of a shell. Whether one may run is decided by the policy, which reads the command; here it gets a folder of
// the user's, an environment without secrets, and an end.
import { closed, defaulted, integer, required, string } from '@subluminal/contracts/shape';
import { quote } from '@subluminal/core/visible';
import { type OwnAnswer, type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { cleanEnvironment, type ProgramResult, runProgram } from '../../process/index.ts';
import type { FileRoots } from '../../staging/index.ts';

export interface ShellServerOptions {
  readonly roots: FileRoots;
  /** Our own environment: a command gets nothing of it that may be a secret. */
  readonly env: { readonly [name: string]: string | undefined };
}

const TIMEOUT_S_MAX = 600;
const GRACE_MS = 1_000;

const RUN = closed({
  command: required(string({ lengthMax: 32_768 }), 'The command, for /bin/sh.'),
  cwd: defaulted(string({ lengthMax: 4_096 }), '.', 'The folder that it runs in; the workspace.'),
  timeout_s: defaulted(
    integer({ min: 1, max: TIMEOUT_S_MAX }),
    60,
    'After so many seconds it is ended.',
  ),
});

export function shellServer({ roots, env }: ShellServerOptions): OwnServer {
  return {
    name: 'shell',
    instructions: `Commands in ${roots.folders.join(', ')}. They have no input and no terminal.`,
    tools: [
      ownTool({
        name: 'run',
        description: 'Runs a command of a shell and gives back what it prints.',
        input: RUN,
        annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
        call: async ({ command, cwd, timeout_s }, { signal }) => {
          const folder = roots.locate(cwd);
          if (typeof folder === 'string') return { text: folder, isError: true };
          if (!folder.isFolder) return { text: `${quote(cwd)} is no folder.`, isError: true };
          const bounds = { timeoutMs: timeout_s * 1_000, graceMs: GRACE_MS, signal };
          const place = { cwd: folder.path, env: cleanEnvironment(env), mixesErrors: true };
          const words = ['/bin/sh', '-c', command] as const;
          return answerOf(await runProgram({ words, ...place, ...bounds }));
        },
      }),
    ],
  };
}

function answerOf(result: ProgramResult): OwnAnswer {
  if (result.kind === 'failed') {
    return { text: `The shell cannot be started (${result.code}).`, isError: true };
  }
  const { exitCode, why, output } = result;
  const end = {
    exit: exitCode === undefined ? 'ended by a signal' : `exit code ${exitCode}`,
    timeout: 'ended: it took too long',
    aborted: 'ended: it was stopped',
  }[why];
  const text = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${end}]`;
  return why === 'exit' && exitCode === 0 ? { text } : { text, isError: true };
}
