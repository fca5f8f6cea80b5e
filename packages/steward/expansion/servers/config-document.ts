// A file of the configuration folder that is edited so that its comments stay.
import { join } from 'node:path';
import { decodeUtf8, readRegularFile } from '@subluminal/plane/os';
import { type Document, parseDocument } from 'yaml';
import { FILE_BYTES_MAX } from '../../config/index.ts';

/** Undefined where it cannot be read. */
export function readConfigDocument(folder: string, name: string): Document | undefined {
  const read = readRegularFile(join(folder, name), { bytesMax: FILE_BYTES_MAX });
  const text = read.kind === 'read' ? decodeUtf8(read.bytes) : undefined;
  return text === undefined ? undefined : parseDocument(text);
}

export function documentText(document: Document): string {
  return document.toString({ lineWidth: 0 });
}
