// What the command lines of clients with hooks have in common.
import { type Failure, failure } from '@subluminal/contracts';
import { baseName } from '../shim-command.ts';

const RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);

/** What follows is installed; what is started comes later. */
const NAMES_PACKAGE = /^(?:-p|--package)$/;

/** How many words name the program: what a runner of packages starts stands behind its own options. */
export function endOfProgram(command: readonly string[]): number {
  if (!RUNNERS.has(baseName(command[0] ?? ''))) return 1;
  const name = command.findIndex(
    (word, at) => at > 0 && !word.startsWith('-') && !NAMES_PACKAGE.test(command[at - 1] ?? ''),
  );
  return name === -1 ? command.length : name + 1;
}

/** The hooks would not be called, and nothing would say so. */
export function dropped(message: string): Failure {
  const fix =
    'Leave it out; or start the agent with --no-hooks, and its own tools are not governed.';
  return failure('SUB_CLIENT_HOOKS', message, fix);
}
