// The clients that have hooks.
import type { ClientId } from '../types.ts';
import { claudeHooks } from './claude-hooks.ts';
import { codexHooks } from './codex-hooks.ts';
import { cursorHooks } from './cursor-hooks.ts';
import type { ClientHooks } from './types.ts';

/** The one place that lists them. */
export const CLIENT_HOOKS: readonly ClientHooks[] = [claudeHooks, codexHooks, cursorHooks];

export function hooksOf(client: ClientId): ClientHooks | undefined {
  return CLIENT_HOOKS.find((one) => one.client === client);
}
