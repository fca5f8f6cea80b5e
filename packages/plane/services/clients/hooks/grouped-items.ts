// Entries of hooks as Claude Code and Codex have them: an event has groups, a group has handlers.
import { isObject } from '@subluminal/contracts';
import type { HookHandler, HookSettings } from './types.ts';

/** The commands of a group; handlers of other types have none. */
function handlersIn(item: unknown): readonly HookHandler[] {
  const hooks = isObject(item) ? item['hooks'] : undefined;
  if (!Array.isArray(hooks)) return [];
  return hooks.flatMap((one: unknown, index): readonly HookHandler[] => {
    const command = isObject(one) ? one['command'] : undefined;
    return typeof command === 'string' ? [{ command, path: ['hooks', index] }] : [];
  });
}

export const GROUPED: Pick<HookSettings, 'handlersIn' | 'beside'> = { handlersIn, beside: {} };
