// Every client whose hooks we understand.
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';
import type { HookDialect } from './types.ts';

/** The one place that lists them. */
export const DIALECTS: readonly HookDialect[] = [claudeCode, codex, cursor, geminiCli, copilotCli];

/** By the id of the client. */
export function dialectOf(client: string): HookDialect | undefined {
  return DIALECTS.find((dialect) => dialect.client === client);
}
