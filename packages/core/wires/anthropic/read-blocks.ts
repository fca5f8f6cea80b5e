// The content of messages, of both requests and answers.
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import type { Block, CacheMark, MediaSource, Rest, ThinkingSeal } from '../shared/form.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { isJsonList, type Problems } from '../shared/read-members.ts';

export const ANTHROPIC = 'anthropic_messages';

/** Where in the body something is, and what is wrong with it. */
export interface ContentPlace {
  readonly path: string;
  readonly problems: Problems;
}

/** A text, or a list of blocks. */
export function readContent(
  content: JsonValue | undefined,
  { path, problems }: ContentPlace,
): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!isJsonList(content)) {
    problems.add(path, 'a string or a list of blocks');
    return [];
  }
  return content.flatMap((value, index) => {
    const place = { path: `${path}[${index}]`, problems };
    if (isJsonObject(value) && typeof value['type'] === 'string') return [readBlock(value, place)];
    problems.add(place.path, 'a block with a `type`');
    return [];
  });
}

type ReadBlock = (members: MemberReader, place: ContentPlace) => Block | undefined;

const KINDS: ReadonlyMap<string, ReadBlock> = new Map<string, ReadBlock>([
  ['text', readText],
  ['image', readImage],
  ['document', readDocument],
  ['tool_use', readToolUse],
  ['tool_result', readToolResult],
  ['thinking', readThinking],
  ['redacted_thinking', readRedactedThinking],
]);

/** A block of a kind that the form does not have, or that lacks what its kind needs, is kept as it is. */
export function readBlock(value: JsonObject, place: ContentPlace): Block {
  const members = new MemberReader(value);
  const read = KINDS.get(members.string('type') ?? '');
  return read?.(members, place) ?? { type: 'unknown', wire: ANTHROPIC, value };
}

function readText(members: MemberReader): Block | undefined {
  const text = members.string('text');
  return text === undefined ? undefined : { type: 'text', text, ...commonParts(members) };
}

function readImage(members: MemberReader): Block | undefined {
  const source = readSource(members);
  if (source === undefined || source.kind === 'text') return undefined;
  return { type: 'image', source, ...commonParts(members) };
}

function readDocument(members: MemberReader): Block | undefined {
  const source = readSource(members);
  if (source === undefined) return undefined;
  const title = members.string('title');
  return { type: 'document', source, ...definedFields({ title }), ...commonParts(members) };
}

function readSource(members: MemberReader): MediaSource | undefined {
  const source = members.inner('source');
  switch (source.string('type')) {
    case 'base64': {
      const mediaType = source.string('media_type');
      const data = source.string('data');
      if (mediaType === undefined || data === undefined) return undefined;
      return { kind: 'base64', mediaType, data };
    }
    case 'text': {
      const text = source.is('media_type', 'text/plain') ? source.string('data') : undefined;
      return text === undefined ? undefined : { kind: 'text', text };
    }
    case 'url': {
      const url = source.string('url');
      return url === undefined ? undefined : { kind: 'url', url };
    }
    case 'file': {
      const id = source.string('file_id');
      return id === undefined ? undefined : { kind: 'file', wire: ANTHROPIC, id };
    }
    default:
      return undefined;
  }
}

function readToolUse(members: MemberReader): Block | undefined {
  const id = members.string('id');
  const name = members.string('name');
  const input = members.object('input');
  if (id === undefined || name === undefined || input === undefined) return undefined;
  return { type: 'tool_use', id, name, input: JSON.stringify(input), ...commonParts(members) };
}

function readToolResult(
  members: MemberReader,
  { path, problems }: ContentPlace,
): Block | undefined {
  const toolUseId = members.string('tool_use_id');
  if (toolUseId === undefined) return undefined;
  const content = members.take('content', isContent);
  return {
    type: 'tool_result',
    toolUseId,
    blocks:
      content === undefined ? [] : readContent(content, { path: `${path}.content`, problems }),
    isError: members.is('is_error', true),
    ...commonParts(members),
  };
}

/** Content that is there: an empty list or text is left, so that it is written as it was. */
function isContent(value: JsonValue): value is string | readonly JsonValue[] {
  return (typeof value === 'string' || isJsonList(value)) && value.length > 0;
}

function readThinking(members: MemberReader): Block | undefined {
  const text = members.string('thinking');
  if (text === undefined) return undefined;
  const value = members.string('signature') ?? '';
  // An empty signature is none: whoever wrote it was not Anthropic.
  const seal: ThinkingSeal | undefined =
    value === '' ? undefined : { kind: 'signature', wire: ANTHROPIC, value };
  return { type: 'thinking', text, ...definedFields({ seal }), ...commonParts(members) };
}

function readRedactedThinking(members: MemberReader): Block | undefined {
  const value = members.string('data');
  if (value === undefined) return undefined;
  const seal = { kind: 'encrypted', wire: ANTHROPIC, value } as const;
  return { type: 'thinking', text: '', seal, ...commonParts(members) };
}

/** The mark of a cache, and what is left. */
export function commonParts(members: MemberReader): {
  readonly cache?: CacheMark;
  readonly rest?: Rest;
} {
  const mark = members.inner('cache_control');
  const isMarked = mark.is('type', 'ephemeral');
  const ttl = isMarked ? mark.word('ttl', TTLS) : undefined;
  const cache = isMarked ? definedFields({ ttl }) : undefined;
  return definedFields({ cache, rest: members.rest(ANTHROPIC) });
}

const TTLS: ReadonlyMap<string, '5m' | '1h'> = new Map([
  ['5m', '5m'],
  ['1h', '1h'],
]);
