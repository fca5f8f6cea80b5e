// Capabilities as both eras write them.
import { TASKS_EXTENSION } from './era-names.ts';
import { isObjectText, textAt, unlessEmpty, withMembers } from './object-text.ts';

/** Capabilities without tasks: the eras have different ones, and no bridge offers them. */
export function withoutTasks(capabilities: string): string {
  const extensions = textAt(capabilities, 'extensions');
  const others = isObjectText(extensions)
    ? unlessEmpty(withMembers(extensions, { [TASKS_EXTENSION]: undefined }))
    : undefined;
  return withMembers(capabilities, { tasks: undefined, extensions: others });
}
