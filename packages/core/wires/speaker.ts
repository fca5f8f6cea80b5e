// Who spoke last in a conversation.
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/units.ts';
import type { JsonWalk } from './json-walk.ts';
import type { RequestPart } from './outline.ts';

type Speaker = 'user' | 'tool' | 'other';

/** The last that is a user or a tool; `walkTo` gives a walk that stands at a part. Undefined for a faulty message. */
export function lastSpeaker(
  parts: readonly RequestPart[],
  walkTo: (part: RequestPart) => JsonWalk,
): Speaker | undefined {
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index];
    if (part?.kind !== 'message') continue;
    const walk = walkTo(part);
    const speaker = speakerAt(walk);
    if (walk.fault !== undefined) return undefined;
    if (speaker !== 'other') return speaker;
  }
  return 'other';
}

function speakerAt(walk: JsonWalk): Speaker {
  if (walk.text.charCodeAt(walk.at) === QUOTE) return 'user';
  let role: string | undefined;
  let type: string | undefined;
  let hasResult = false;
  walk.members(2, (key) => {
    if (key === 'role') role = walk.readString(3);
    else if (key === 'type') type = walk.readString(3);
    else if (key === 'content' && walk.text.charCodeAt(walk.at) === OPEN_BRACKET)
      return walk.items(3, () => {
        if (blockType(walk) === 'tool_result') hasResult = true;
        return walk.fault === undefined;
      });
    else return walk.skip(3);
    return walk.fault === undefined;
  });
  if (hasResult || role === 'tool' || role === 'function') return 'tool';
  if (type?.endsWith('_output') === true) return 'tool';
  return role === 'user' ? 'user' : 'other';
}

function blockType(walk: JsonWalk): string | undefined {
  if (walk.text.charCodeAt(walk.at) !== OPEN_BRACE) {
    walk.skip(4);
    return undefined;
  }
  let type: string | undefined;
  walk.members(4, (key) => {
    if (key !== 'type') return walk.skip(5);
    type = walk.readString(5);
    return walk.fault === undefined;
  });
  return type;
}
