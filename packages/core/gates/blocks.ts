// The texts of a result that a model reads: marked as content from outside, and never endless.
import { isObject } from '@subluminal/contracts';
import { cutContent, markedContent } from '../scan/detect/index.ts';
import type { Manifest } from '../surface/index.ts';
import { byteLength } from './walk.ts';

interface Slot {
  readonly text: string;
  /** A mark does no harm here: a model reads it, no program does. */
  readonly isProse: boolean;
}

type SlotChange = (slot: Slot) => string;
type Json = { readonly [key: string]: unknown };

const PROSE_TYPES = /^text\/(?:plain|markdown)\b/;

/** The result with each text replaced; the very same where nothing was. */
function withSlots(method: string, value: unknown, change: SlotChange): unknown {
  if (!isObject(value)) return value;
  switch (method) {
    case 'tools/call':
    case 'tasks/result':
      return withItems(value, 'content', (block) => blockWith(block, change));
    case 'resources/read':
      return withItems(value, 'contents', (item) => resourceWith(item, change));
    case 'prompts/get':
      // A person has chosen the prompt: it is cut, but not marked.
      return withItems(value, 'messages', (message) => promptWith(message, change));
    default:
      return value;
  }
}

function withItems(value: Json, field: string, change: (item: unknown) => unknown): unknown {
  const items: unknown = value[field];
  if (!Array.isArray(items)) return value;
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index])
    ? value
    : { ...value, [field]: changed };
}

function blockWith(block: unknown, change: SlotChange): unknown {
  if (!isObject(block)) return block;
  if (block['type'] === 'text') return textWith(block, change, true);
  if (block['type'] !== 'resource') return block;
  const resource = resourceWith(block['resource'], change);
  return resource === block['resource'] ? block : { ...block, resource };
}

function resourceWith(item: unknown, change: SlotChange): unknown {
  if (!isObject(item)) return item;
  const { mimeType } = item;
  const isProse =
    typeof mimeType === 'string' ? PROSE_TYPES.test(mimeType) : mimeType === undefined;
  return textWith(item, change, isProse);
}

function promptWith(message: unknown, change: SlotChange): unknown {
  if (!isObject(message)) return message;
  const content = blockWith(message['content'], ({ text }) => change({ text, isProse: false }));
  return content === message['content'] ? message : { ...message, content };
}

function textWith(holder: Json, change: SlotChange, isProse: boolean): unknown {
  const { text } = holder;
  if (typeof text !== 'string') return holder;
  const changed = change({ text, isProse });
  return changed === text ? holder : { ...holder, text: changed };
}

interface Marking {
  readonly method: string;
  /** For example `mcp:gmail`. */
  readonly source: string;
  readonly tool: string | undefined;
  readonly isMarked: boolean;
  /** Over all texts of the result. */
  readonly unitsMax: number;
}

interface Bounded {
  readonly value: unknown;
  readonly isCut: boolean;
}

/** Cuts texts to the limit, and marks them where `isMarked` is set: then they must be neutral. */
export function bounded(
  value: unknown,
  { method, source, tool, isMarked, unitsMax }: Marking,
): Bounded {
  let room = unitsMax;
  let isCut = false;
  const by = tool === undefined ? { source } : { source, tool };
  const changed = withSlots(method, value, ({ text, isProse }) => {
    const unitsLeft = room;
    room = Math.max(0, room - text.length);
    isCut ||= text.length > unitsLeft;
    if (!isMarked || !isProse) return cutContent(text, unitsLeft);
    return markedContent(text, { ...by, unitsMax: unitsLeft });
  });
  return { value: changed, isCut };
}

/** Structured content cannot be cut: half of it would no longer fit its schema. */
export function isStructureTooLong(value: unknown, unitsMax: number): boolean {
  if (!isObject(value) || value['structuredContent'] === undefined) return false;
  return JSON.stringify(value['structuredContent']).length > unitsMax;
}

const ROUNDS_MAX = 24;

/** The answer within the manifest's limit; undefined when it cannot be, or must not be cut. */
export function withinBytes(method: string, value: unknown, limit: Manifest['answers']): unknown {
  if (sizeOf(value) <= limit.bytesMax) return value;
  if (limit.onExcess === 'refuse') return undefined;
  let unitsMax = limit.bytesMax;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const how = { method, source: '', tool: undefined, isMarked: false, unitsMax };
    const { value: cut } = bounded(value, how);
    const excess = sizeOf(cut) - limit.bytesMax;
    if (excess <= 0) return cut;
    if (unitsMax === 0) return undefined;
    unitsMax = Math.max(0, Math.min(unitsMax - excess, Math.floor(unitsMax * 0.9)));
  }
  return undefined;
}

function sizeOf(value: unknown): number {
  return byteLength(JSON.stringify(value) ?? '');
}
