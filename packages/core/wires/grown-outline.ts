// The outline of a request that repeats an earlier one and adds messages to it, as each turn of a conversation does:
// only what is new is walked through. The rest has the same bytes, compared one by one.
import type { ByteRange } from '../json/byte-scanner.ts';
import { COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from '../json/units.ts';
import { JsonWalk } from './json-walk.ts';
import {
  type ByteTools,
  PARTS_MAX,
  type RequestOutline,
  type RequestPart,
  type SharedParts,
} from './outline.ts';
import { lastSpeaker } from './speaker.ts';

export interface OutlinedRequest {
  readonly bytes: Uint8Array;
  readonly outline: RequestOutline;
}

/** Undefined when the two have no message in common, or differ behind the messages. */
export function sharedParts(
  before: OutlinedRequest,
  bytes: Uint8Array,
  tools: ByteTools,
): SharedParts | undefined {
  const { parts } = before.outline;
  const firstMessage = parts.findIndex(({ kind }) => kind === 'message');
  const lastMessage = parts.findLastIndex(({ kind }) => kind === 'message');
  const oldEnd = parts[lastMessage]?.range.end;
  if (oldEnd === undefined || !isFirstItem(before.bytes, parts[firstMessage])) return undefined;
  const end = oldEnd + bytes.length - before.bytes.length;
  if (end < 0 || !tools.isEqual(before.bytes.subarray(oldEnd), bytes.subarray(end)))
    return undefined;
  const isShared = (part: number): boolean => {
    const till = parts[part]?.range.end ?? Number.POSITIVE_INFINITY;
    return till <= end && tools.isEqual(before.bytes.subarray(0, till), bytes.subarray(0, till));
  };
  let shared = firstMessage - 1;
  for (let tooMany = lastMessage + 1, tried = lastMessage; tried > shared; ) {
    if (isShared(tried)) shared = tried;
    else tooMany = tried;
    tried = (shared + tooMany) >> 1;
  }
  if (shared < firstMessage) return undefined;
  return { parts, first: shared + 1, last: parts.length - 1 - lastMessage };
}

/**
 * The outline of a request that shares parts with an earlier one. Behind an item of the list of messages, what
 * follows means the same in both, so only the messages in between are new. Undefined when something is wrong with
 * them: a walk through the whole request says what.
 */
export function grownOutline(
  { bytes: oldBytes, outline }: OutlinedRequest,
  shared: SharedParts,
  { bytes, tools }: { readonly bytes: Uint8Array; readonly tools: ByteTools },
): RequestOutline | undefined {
  const { parts, first, last } = shared;
  const start = parts[first - 1]?.range.end;
  const oldEnd = parts[parts.length - 1 - last]?.range.end;
  if (start === undefined || oldEnd === undefined) return undefined;
  const by = bytes.length - oldBytes.length;
  const added = addedMessages(bytes, { start, end: oldEnd + by }, tools);
  if (added === undefined || first + added.length + last > PARTS_MAX) return undefined;
  const moved = (range: ByteRange): ByteRange =>
    range.start < oldEnd ? range : { start: range.start + by, end: range.end + by };
  const behind = parts.slice(parts.length - last);
  const all = [
    ...parts.slice(0, first),
    ...added,
    ...behind.map(({ kind, range }) => ({ kind, range: moved(range) })),
  ];
  const speaker = lastSpeaker(all, ({ range }) =>
    walkOf(bytes.subarray(range.start, range.end), tools),
  );
  if (speaker === undefined) return undefined;
  return {
    ...outline,
    modelRange: moved(outline.modelRange),
    parts: all,
    isContinuation: speaker === 'tool',
    grownFrom: shared,
  };
}

function walkOf(bytes: Uint8Array, tools: ByteTools): JsonWalk {
  return new JsonWalk(bytes, tools.latin1(bytes));
}

/** A message may also be the value of a member itself. */
function isFirstItem(bytes: Uint8Array, part: RequestPart | undefined): boolean {
  let at = (part?.range.start ?? 0) - 1;
  while (at >= 0 && (bytes[at] ?? 0) <= SPACE) at--;
  return bytes[at] === OPEN_BRACKET;
}

/** The items from behind one message to the end of another. */
function addedMessages(
  bytes: Uint8Array,
  { start, end }: ByteRange,
  tools: ByteTools,
): readonly RequestPart[] | undefined {
  const added: RequestPart[] = [];
  const middle = bytes.subarray(start, end);
  if (!tools.isUtf8(middle)) return undefined;
  const walk = walkOf(middle, tools);
  while (walk.at < middle.length) {
    if (walk.next() !== COMMA) return undefined;
    walk.at++;
    const unit = walk.next();
    const from = walk.at;
    if ((unit !== OPEN_BRACE && unit !== QUOTE) || !walk.skip(2)) return undefined;
    added.push({ kind: 'message', range: { start: start + from, end: start + walk.at } });
  }
  return added;
}
