// A change as people read it.
import { type Failure, isFailure } from '@subluminal/contracts';
import { harmless, visible } from '@subluminal/core/visible';
import { decodeUtf8 } from '@subluminal/plane/os';
import { changeKind, type FileChangeKind, type StagedFile } from './change-set.ts';

export interface FileDiff {
  readonly path: string;
  readonly to?: string;
  readonly kind: FileChangeKind;
  readonly isBinary: boolean;
  readonly sizeBefore: number;
  readonly sizeAfter: number;
  /** The texts; absent for a binary file, and when one of them is long. */
  readonly texts?: { readonly before: string; readonly after: string };
  /** A unified diff, safe to print. Of a binary file only a text that takes its place. */
  readonly diff: string;
}

const CONTEXT_LINES = 3;
const DIFF_MS_MAX = 1_000;
const DIFF_LENGTH_MAX = 200_000;
const LINE_LENGTH_MAX = 2_000;
const TEXTS_LENGTH_MAX = 200_000;

export interface FileContents {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

export async function diffFile(file: StagedFile, contents: FileContents): Promise<FileDiff> {
  const { path, to } = file;
  const kind = changeKind(file);
  const before = textOf(contents.before);
  const after = textOf(contents.after);
  const isBinary = before === undefined || after === undefined;
  return {
    path,
    ...(to !== undefined && { to }),
    kind,
    isBinary,
    sizeBefore: contents.before.length,
    sizeAfter: contents.after.length,
    ...(!isBinary && isShort(before) && isShort(after) && { texts: { before, after } }),
    diff: isBinary ? binaryDiff(file, contents, after) : await textDiff(file, { before, after }),
  };
}

function isShort(text: string): boolean {
  return text.length <= TEXTS_LENGTH_MAX;
}

/** A text that takes the place of what is none is shown whole: it is what somebody decides on. */
function binaryDiff({ path }: StagedFile, bytes: FileContents, after: string | undefined): string {
  const { before, after: next } = bytes;
  const head = `Binary file ${harmless(path)}: ${before.length} bytes before, ${next.length} bytes after\n`;
  return after === undefined || after === '' ? head : head + shown(prefixed(after));
}

interface Texts {
  readonly before: string;
  readonly after: string;
}

async function textDiff(file: StagedFile, { before, after }: Texts): Promise<string> {
  const kind = changeKind(file);
  const { createTwoFilesPatch } = await import('diff');
  const from = kind === 'create' ? '/dev/null' : file.path;
  const to = kind === 'delete' ? '/dev/null' : (file.to ?? file.path);
  const options = { context: CONTEXT_LINES, timeout: DIFF_MS_MAX };
  const patch = createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  if (patch === undefined) return shown(`--- ${from}\n+++ ${to}\n${prefixed(after)}`);
  return shown(patch.replace(/^=+\n/, ''));
}

/** Texts that are too different to compare in time: all that is new. */
function prefixed(text: string): string {
  return text.replaceAll(/^/gm, '+');
}

/** What a line of a file holds must not act on a terminal, or look like another line. */
function shown(patch: string): string {
  const lines = patch.slice(0, DIFF_LENGTH_MAX).split('\n');
  const text = lines.map((line) => line.split('\t').map(harmlessPart).join('\t')).join('\n');
  if (patch.length <= DIFF_LENGTH_MAX) return text;
  return `${text}\n… and ${patch.length - DIFF_LENGTH_MAX} characters more\n`;
}

function harmlessPart(text: string): string {
  const more = text.length - LINE_LENGTH_MAX;
  return visible(text, LINE_LENGTH_MAX) + (more > 0 ? ` (${more} more characters)` : '');
}

function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : decodeUtf8(bytes);
}

/** The contents of a file of a change set; none where there is no file. */
export function fileContents(
  { before, after }: StagedFile,
  content: (hash: string) => Buffer | Failure,
): FileContents | Failure {
  const none = Buffer.alloc(0);
  const old = before === undefined ? none : content(before);
  if (isFailure(old)) return old;
  const next = after === undefined ? none : content(after);
  return isFailure(next) ? next : { before: old, after: next };
}
