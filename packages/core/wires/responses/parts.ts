// The parts of a message or of a tool's output on the Responses wire.
import { definedFields, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { type Degraded, noteForeign } from '../shared/degraded.ts';
import type { Block, DocumentBlock, ImageBlock, MediaSource } from '../shared/form.ts';
import { dataUrl, mediaFromUrl, mediaUrl } from '../shared/media.ts';
import { isJsonList, jsonObject, restMembers, restOf, stringIn } from '../shared/read-members.ts';
import { type PartPlace, readPartList } from '../shared/read-parts.ts';

export const RESPONSES = 'openai_responses';

const TEXT = new Set(['type', 'text']);
const REFUSAL = new Set(['type', 'refusal']);
const IMAGE = new Set(['type', 'image_url', 'file_id', 'detail']);
const FILE = new Set(['type', 'file_data', 'file_id', 'file_url', 'filename']);

/** The content of a message, or what a tool gave: a text, or a list of parts. */
export function readParts(content: JsonValue | undefined, place: PartPlace): readonly Block[] {
  return readPartList(content, place, readPart);
}

function readPart(part: JsonObject): Block {
  switch (stringIn(part, 'type')) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const rest = restOf(RESPONSES, withoutEmptyLists(part), TEXT);
      return { type: 'text', text: stringIn(part, 'text') ?? '', ...definedFields({ rest }) };
    }
    case 'refusal': {
      const rest = restOf(RESPONSES, part, REFUSAL);
      return { type: 'refusal', text: stringIn(part, 'refusal') ?? '', ...definedFields({ rest }) };
    }
    case 'input_image': {
      const source = sourceOf(part, stringIn(part, 'image_url'));
      if (source === undefined) break;
      const detail = stringIn(part, 'detail');
      const rest = restOf(RESPONSES, part, IMAGE);
      return { type: 'image', source, ...definedFields({ detail, rest }) };
    }
    case 'input_file': {
      const source = sourceOf(part, stringIn(part, 'file_data') ?? stringIn(part, 'file_url'));
      if (source === undefined) break;
      const title = stringIn(part, 'filename');
      const rest = restOf(RESPONSES, part, FILE);
      return { type: 'document', source, ...definedFields({ title, rest }) };
    }
    default:
  }
  return { type: 'unknown', wire: RESPONSES, value: part };
}

/** `annotations: []` and `logprobs: []` say nothing. */
function withoutEmptyLists(part: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(part).filter(([, value]) => !isJsonList(value) || value.length > 0),
  );
}

function sourceOf(part: JsonObject, url: string | undefined): MediaSource | undefined {
  if (url !== undefined) return mediaFromUrl(url);
  const id = stringIn(part, 'file_id');
  return id === undefined ? undefined : { kind: 'file', wire: RESPONSES, id };
}

/** Parts that a client or a tool wrote are `input_*`, those of the assistant `output_text`. */
export function writePart(
  block: Block,
  { isOutput, degraded }: { readonly isOutput: boolean; readonly degraded: Degraded },
): JsonObject | undefined {
  if (block.type === 'unknown') {
    if (block.wire === RESPONSES) return block.value;
    degraded.add('unknown_blocks');
    return undefined;
  }
  noteForeign(block, RESPONSES, degraded);
  const rest = restMembers(RESPONSES, block.rest);
  switch (block.type) {
    case 'text':
      return isOutput
        ? { type: 'output_text', text: block.text, annotations: [], ...rest }
        : { type: 'input_text', text: block.text, ...rest };
    case 'refusal':
      return { type: 'refusal', refusal: block.text, ...rest };
    case 'image':
      return writeImage(block, degraded);
    case 'document':
      return writeFile(block, degraded);
    default:
      return undefined;
  }
}

function writeImage({ source, detail, rest }: ImageBlock, degraded: Degraded) {
  const image_url = mediaUrl(source);
  const file_id = source.kind === 'file' && source.wire === RESPONSES ? source.id : undefined;
  if (image_url === undefined && file_id === undefined) {
    degraded.add(source.kind === 'file' ? 'files' : 'images');
    return undefined;
  }
  const members = restMembers(RESPONSES, rest);
  return jsonObject({ type: 'input_image', image_url, file_id, detail, ...members });
}

function writeFile({ source, title, rest }: DocumentBlock, degraded: Degraded) {
  const type = 'input_file';
  const members = restMembers(RESPONSES, rest);
  switch (source.kind) {
    case 'text': {
      const text = title === undefined ? source.text : `${title}\n\n${source.text}`;
      return { type: 'input_text', text };
    }
    case 'base64': {
      const file_data = dataUrl(source.mediaType, source.data);
      return { type, filename: title ?? 'document', file_data, ...members };
    }
    case 'url':
      return jsonObject({ type, file_url: source.url, filename: title, ...members });
    case 'file':
      if (source.wire === RESPONSES) {
        return jsonObject({ type, file_id: source.id, filename: title, ...members });
      }
      degraded.add('files');
      return undefined;
  }
}
