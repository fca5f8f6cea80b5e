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

const ASKS_ONLY = /^(?:--version|-[vVh]|--help|doctor|update|login|logout)$/;
const LISTS_SERVERS = /^mcp (?:list|get|add|add-json|remove)\b/;

/** Whether it starts an agent: `claude --version` or `codex mcp list` calls no hook, and nothing is to be said of that. */
export function startsAgent(command: readonly string[]): boolean {
  const words = command.slice(endOfProgram(command));
  if (words.length === 1 && ASKS_ONLY.test(words[0] ?? '')) return false;
  return !LISTS_SERVERS.test(words.slice(0, 2).join(' '));
}

/** The hooks would not be called, and nothing would say so. */
export function dropped(message: string): Failure {
  const fix =
    'Leave it out; or start the agent with --no-hooks, and its own tools are not governed.';
  return failure('SUB_CLIENT_HOOKS', message, fix);
}
