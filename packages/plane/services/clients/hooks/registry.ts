// The clients that have hooks.
import type { ClientId } from '../types.ts';
import { claudeHooks } from './claude-hooks.ts';
import { codexHooks } from './codex-hooks.ts';
import { copilotHooks } from './copilot-hooks.ts';
import { cursorHooks } from './cursor-hooks.ts';
import { geminiHooks } from './gemini-hooks.ts';
import type { ClientHooks } from './types.ts';

/** The one place that lists them. */
export const CLIENT_HOOKS: readonly ClientHooks[] = [
  claudeHooks,
  codexHooks,
  copilotHooks,
  cursorHooks,
  geminiHooks,
];

/** As they stand in the settings of the user, or of the machine. */
export function hooksOf(client: ClientId, isManaged = false): ClientHooks | undefined {
  const hooks = CLIENT_HOOKS.find((one) => one.client === client);
  if (!isManaged || hooks?.managedBeside === undefined) return hooks;
  const beside = { ...hooks.settings.beside, ...hooks.managedBeside };
  return { ...hooks, settings: { ...hooks.settings, beside } };
}
