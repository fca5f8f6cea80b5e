// Every client whose hooks we understand.
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import type { HookDialect } from './types.ts';

/** The one place that lists them. */
export const DIALECTS: readonly HookDialect[] = [claudeCode, codex];

/** By the id of the client. */
export function dialectOf(client: string): HookDialect | undefined {
  return DIALECTS.find((dialect) => dialect.client === client);
}
