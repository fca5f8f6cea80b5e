import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { Block } from './form.ts';
import { isJsonList, type Problems } from './read-members.ts';

/** Where in a body something is, and what is wrong with it. */
export interface PartPlace {
  readonly path: string;
  readonly problems: Problems;
}

/** The content of a message on an OpenAI wire: a text, or a list of parts. */
export function readPartList(
  content: JsonValue | undefined,
  { path, problems }: PartPlace,
  readPart: (part: JsonObject) => Block,
): readonly Block[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!isJsonList(content)) {
    problems.add(path, 'a string or a list of parts');
    return [];
  }
  return content.flatMap((part, index) => {
    if (isJsonObject(part)) return [readPart(part)];
    problems.add(`${path}[${index}]`, 'an object');
    return [];
  });
}
