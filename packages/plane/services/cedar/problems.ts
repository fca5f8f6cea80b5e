// What the engine says is wrong → problems with a file, a line and a column.
import type { DetailedError } from '@cedar-policy/cedar-wasm/nodejs';
import type { SubCode } from '@subluminal/contracts';
import { type Position, type Problem, visible } from '@subluminal/core/policy';

export type CedarCode = Extract<SubCode, `SUB_CEDAR_${string}` | 'SUB_FILE_UNSAFE'>;

/** A stretch of a file that the engine was given. */
export interface Piece {
  readonly file: string;
  readonly fileText: string;
  /** Where it starts in the file, in UTF-16 units. */
  readonly start: number;
  readonly text: string;
}

const MESSAGE_LENGTH_MAX = 400;

interface Words {
  readonly code: CedarCode;
  readonly level?: 'error' | 'warning';
  readonly path?: string;
  readonly message: string;
  readonly fix: string;
}

/** A problem at a place of a piece, counted in the bytes of the piece as the engine counts. */
export function problemAt(piece: Piece, byte: number, words: Words): Problem {
  const offset = piece.start + unitOf(piece.text, byte);
  return {
    level: words.level ?? 'error',
    code: words.code,
    file: piece.file,
    position: positionAt(piece.fileText, offset),
    path: visible(words.path ?? '', MESSAGE_LENGTH_MAX),
    message: visible(words.message, MESSAGE_LENGTH_MAX),
    fix: visible(words.fix, MESSAGE_LENGTH_MAX),
  };
}

/** A problem of a file as a whole. */
export function problemOf(file: string, words: Words): Problem {
  return problemAt({ file, fileText: '', start: 0, text: '' }, 0, words);
}

/** What the engine said, in our form: its preamble goes, its help becomes the fix. */
export function wordsOf(error: DetailedError, fallback: string): Pick<Words, 'message' | 'fix'> {
  const label = error.sourceLocations?.find((location) => location.label !== null)?.label;
  const said = error.message
    .replace(/^failed to parse (?:policy|schema|policy set) from (?:string|JSON): /, '')
    .replace(/^error parsing schema: /, '')
    .replace(/^for policy `[^`]*`, /, '');
  const message = label === undefined || label === null ? said : `${said}; ${label}`;
  return { message, fix: sentence(error.help ?? fallback) };
}

export function byteOf(error: DetailedError): number {
  return error.sourceLocations?.[0]?.start ?? 0;
}

function sentence(text: string): string {
  const started = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(started) ? started : `${started}.`;
}

function unitOf(text: string, byte: number): number {
  let bytes = 0;
  let units = 0;
  for (const char of text) {
    if (bytes >= byte) break;
    bytes += Buffer.byteLength(char);
    units += char.length;
  }
  return units;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
