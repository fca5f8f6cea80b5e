// Images and documents: the OpenAI wires put their bytes into a `data:` address.
import type { MediaSource } from './form.ts';

const DATA_URL_HEAD = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64,/i;
const HEAD_LENGTH_MAX = 256;

export function mediaFromUrl(url: string): MediaSource {
  const head = DATA_URL_HEAD.exec(url.slice(0, HEAD_LENGTH_MAX));
  if (head === null) return { kind: 'url', url };
  const mediaType = head[1] ?? 'application/octet-stream';
  return { kind: 'base64', mediaType, data: url.slice(head[0].length) };
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Where a medium can be found, for a wire that takes addresses; undefined when it has none. */
export function mediaUrl(source: MediaSource): string | undefined {
  if (source.kind === 'base64') return dataUrl(source.mediaType, source.data);
  return source.kind === 'url' ? source.url : undefined;
}
