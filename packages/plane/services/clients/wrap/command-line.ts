// Servers that the command line of an agent brings along: they stand in no config that is rewritten.
import type { Client, CommandLine } from '../index.ts';

interface AgentCommand extends CommandLine {
  readonly client: Client;
  /** The agent and its arguments. */
  readonly words: readonly string[];
}

const SHOWN_MAX = 20;
const NAME_LENGTH_MAX = 200;

/** What brings them, as a person would call it; values that may hold secrets are not shown. */
export function serversBeside({ client, words, ...line }: AgentCommand): readonly string[] {
  // Also behind a `--`: it may be that of a launcher, such as npx.
  const found = [...new Set(client.serversBeside(words.slice(1), line))];
  return found.slice(0, SHOWN_MAX).map((one) => one.slice(0, NAME_LENGTH_MAX));
}
