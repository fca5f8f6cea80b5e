// The parts of a chat message: text, images, files.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { definedFields } from '@subluminal/contracts';
import { type Degraded, noteForeign } from '../shared/degraded.ts';
import type { Block, MediaSource } from '../shared/form.ts';
import { dataUrl, mediaFromUrl, mediaUrl } from '../shared/media.ts';
import { jsonObject, objectIn, restMembers, restOf, stringIn } from '../shared/read-members.ts';
import { type PartPlace, readPartList } from '../shared/read-parts.ts';

export const CHAT = 'openai_chat_completions';

const TEXT = new Set(['type', 'text']);
const REFUSAL = new Set(['type', 'refusal']);
const IMAGE = new Set(['type', 'image_url']);
const FILE = new Set(['type', 'file']);

/** The content of a message: a text, or a list of parts. */
export function readContent(content: JsonValue | undefined, place: PartPlace): readonly Block[] {
  return readPartList(content, place, readPart);
}

function readPart(part: JsonObject): Block {
  const type = stringIn(part, 'type');
  const text = stringIn(part, 'text');
  if (type === 'text' && text !== undefined) {
    return { type: 'text', text, ...definedFields({ rest: restOf(CHAT, part, TEXT) }) };
  }
  const refusal = stringIn(part, 'refusal');
  if (type === 'refusal' && refusal !== undefined) {
    return { type, text: refusal, ...definedFields({ rest: restOf(CHAT, part, REFUSAL) }) };
  }
  const image = type === 'image_url' ? objectIn(part, 'image_url') : undefined;
  const url = image && stringIn(image, 'url');
  if (image !== undefined && url !== undefined) {
    return {
      type: 'image',
      source: mediaFromUrl(url),
      ...definedFields({ detail: stringIn(image, 'detail'), rest: restOf(CHAT, part, IMAGE) }),
    };
  }
  const file = type === 'file' ? objectIn(part, 'file') : undefined;
  const source = file && fileSource(file);
  if (file !== undefined && source !== undefined) {
    return {
      type: 'document',
      source,
      ...definedFields({ title: stringIn(file, 'filename'), rest: restOf(CHAT, part, FILE) }),
    };
  }
  return { type: 'unknown', wire: CHAT, value: part };
}

function fileSource(file: JsonObject): MediaSource | undefined {
  const id = stringIn(file, 'file_id');
  if (id !== undefined) return { kind: 'file', wire: CHAT, id };
  const data = stringIn(file, 'file_data');
  if (data === undefined) return undefined;
  const source = mediaFromUrl(data);
  // Bytes alone, without the head of a `data:` address.
  return source.kind === 'url' ? { kind: 'base64', mediaType: 'application/pdf', data } : source;
}

/** One text is written as a string, everything else as parts. */
export function writeContent(blocks: readonly Block[], degraded: Degraded): JsonValue {
  const parts = blocks.flatMap((block) => {
    const part = writePart(block, degraded);
    return part === undefined ? [] : [part];
  });
  const [first] = parts;
  if (parts.length === 1 && first?.['type'] === 'text' && Object.keys(first).length === 2) {
    return first['text'] ?? '';
  }
  return parts;
}

function writePart(block: Block, degraded: Degraded): JsonObject | undefined {
  if (block.type === 'unknown') {
    if (block.wire === CHAT) return block.value;
    degraded.add('unknown_blocks');
    return undefined;
  }
  noteForeign(block, CHAT, degraded);
  const rest = restMembers(CHAT, block.rest);
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...rest };
    case 'refusal':
      return { type: 'refusal', refusal: block.text, ...rest };
    case 'image': {
      const url = mediaUrl(block.source);
      if (url === undefined) {
        degraded.add(block.source.kind === 'file' ? 'files' : 'images');
        return undefined;
      }
      return { type: 'image_url', image_url: jsonObject({ url, detail: block.detail }), ...rest };
    }
    case 'document':
      return writeDocument(block.source, { title: block.title, rest, degraded });
    default:
      // Tools and thinking are members of the message, and have no part.
      return undefined;
  }
}

function writeDocument(
  source: MediaSource,
  {
    title,
    rest,
    degraded,
  }: { readonly title: string | undefined; readonly rest: JsonObject; readonly degraded: Degraded },
): JsonObject | undefined {
  switch (source.kind) {
    case 'text':
      return {
        type: 'text',
        text: title === undefined ? source.text : `${title}\n\n${source.text}`,
      };
    case 'base64': {
      const file_data = dataUrl(source.mediaType, source.data);
      return { type: 'file', file: { filename: title ?? 'document', file_data }, ...rest };
    }
    case 'file':
      if (source.wire !== CHAT) break;
      return {
        type: 'file',
        file: jsonObject({ file_id: source.id, filename: title }),
        ...rest,
      };
    case 'url':
      degraded.add('documents');
      return undefined;
  }
  degraded.add('files');
  return undefined;
}
