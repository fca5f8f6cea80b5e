// What the memory has to say about a request, as text for a prompt.
import { neutral } from '@subluminal/core/detect';
import type { AgentMemory } from './types.ts';

/** Core facts first, then what was found, the best first. Text from outside stands between its marks. */
export async function recallText(memory: AgentMemory, request: string): Promise<string> {
  const [facts, found] = await Promise.all([memory.core(), memory.search({ text: request })]);
  const lines = [
    ...facts.map(({ key, value }) => `The user has set ${neutral(key)}: ${neutral(value)}`),
    ...found.map(({ entry, marked }) => `${entry.provenance}: ${marked}`),
  ];
  return lines.join('\n');
}
