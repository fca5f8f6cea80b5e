// Entries of hooks as Claude Code and Codex have them: an event has groups, a group has handlers.
import { isObject } from '@subluminal/contracts';
import type { HookSettings } from './types.ts';

/** The commands of a group; handlers of other types have none. */
function commandsIn(item: unknown): readonly string[] {
  return handlersOf(item).flatMap((one) => {
    const command = isObject(one) ? one['command'] : undefined;
    return typeof command === 'string' ? [command] : [];
  });
}

/** Somebody may have put a handler of theirs beside ours. */
function without(item: unknown, isOurs: (command: string) => boolean): unknown {
  if (!isObject(item)) return item;
  const hooks = handlersOf(item).filter((one) => !commandsIn({ hooks: [one] }).some(isOurs));
  return hooks.length === 0 ? undefined : { ...item, hooks };
}

function handlersOf(item: unknown): readonly unknown[] {
  const hooks = isObject(item) ? item['hooks'] : undefined;
  return Array.isArray(hooks) ? hooks : [];
}

export const GROUPED: Pick<HookSettings, 'commandsIn' | 'without' | 'beside'> = {
  commandsIn,
  without,
  beside: {},
};
