// Lists folders and reads files.
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { quote, visible } from '@subluminal/core/visible';
import { errorAnswer, type OwnAnswer } from '@subluminal/plane/agent-run';
import { decodeUtf8, systemCode } from '@subluminal/plane/os';
import { type FileRoots, readTruePath } from '../../staging/index.ts';

const ENTRIES_MAX = 500;
const NAME_LENGTH_MAX = 255;
const READ_BYTES_MAX = 10_485_760;
const READ_LENGTH_MAX = 100_000;

export function listFolder(roots: FileRoots, path: string): OwnAnswer {
  const found = roots.locate(path);
  if (typeof found === 'string') return errorAnswer(found);
  if (!found.isFolder) return errorAnswer(`${quote(path)} is no folder.`);
  try {
    const entries = readdirSync(found.path, { withFileTypes: true })
      .filter(({ name }) => roots.isOpen(join(found.path, name)))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
    const shown = entries.slice(0, ENTRIES_MAX).map(entryLine);
    const more = entries.length - shown.length;
    const lines = more > 0 ? [...shown, `… and ${more} more`] : shown;
    return { text: lines.length === 0 ? 'The folder is empty.' : lines.join('\n') };
  } catch (cause) {
    return errorAnswer(`${quote(path)} cannot be listed (${systemCode(cause)}).`);
  }
}

function entryLine(entry: Dirent): string {
  const name = visible(entry.name, NAME_LENGTH_MAX);
  if (entry.isDirectory()) return `${name}/`;
  if (entry.isSymbolicLink()) return `${name} (link)`;
  return entry.isFile() ? name : `${name} (no regular file)`;
}

interface LineRange {
  readonly path: string;
  readonly from_line: number;
  readonly lines: number;
}

export function readText(roots: FileRoots, asked: LineRange): OwnAnswer {
  const { path, from_line: from, lines: count } = asked;
  const found = roots.locate(path);
  if (typeof found === 'string') return errorAnswer(found);
  const read = readTruePath(found.path, READ_BYTES_MAX);
  if (read.kind === 'missing') return errorAnswer(`There is no file ${quote(path)}.`);
  if (read.kind === 'unreadable') return errorAnswer(`${quote(path)} ${read.why}.`);
  const text = read.bytes.includes(0) ? undefined : decodeUtf8(read.bytes);
  if (text === undefined) return { text: `A binary file of ${read.bytes.length} bytes.` };
  const all = text.split('\n');
  const wanted = all.slice(from - 1, from - 1 + count).join('\n');
  const shown = wanted.slice(0, READ_LENGTH_MAX);
  const isWhole = from === 1 && shown.length === text.length;
  const next = from + shown.split('\n').length - (shown.length < wanted.length ? 1 : 0);
  const rest = `\n[lines ${from} to ${next - 1} of ${all.length}]`;
  return { text: isWhole ? text : shown + rest };
}
