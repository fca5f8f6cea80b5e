// Bytes or text → a tree with positions, or what keeps it from being one. Never throws, never
// hangs: what the input may be is bounded before, while and after it is parsed.
import type { Problem } from '../problem.ts';
import { buildTree } from './build.ts';
import { readDocument } from './document.ts';
import { type Fault, sorted } from './finding.ts';
import { indexLines, type PositionAt } from './lines.ts';
import type { Tree } from './tree.ts';
import { decodeUtf8 } from './utf8.ts';

type Source =
  | { readonly file: string; readonly bytes: Uint8Array }
  | { readonly file: string; readonly text: string };

interface SourceTree {
  readonly ok: true;
  readonly tree: Tree;
  readonly positionAt: PositionAt;
}

type SourceResult = SourceTree | { readonly ok: false; readonly problems: readonly Problem[] };

const BYTES_MAX = 1_048_576;
const BYTE_ORDER_MARK = '\uFEFF';

/** Reads YAML or JSON; JSON is read as the YAML that it is. */
function readSource(source: Source): SourceResult {
  const { file } = source;
  const length = 'bytes' in source ? source.bytes.length : source.text.length;
  if (length > BYTES_MAX) return failed(file, '', [sizeFault()]);
  const decoded = 'bytes' in source ? decodeUtf8(source.bytes) : { ok: true as const, ...source };
  if (!decoded.ok) {
    const text = withoutMark(decoded.textBefore);
    return failed(file, text, [byteFault(decoded.badByte, text.length)]);
  }
  const text = withoutMark(decoded.text);
  const forbidden = forbiddenIn(text);
  if (forbidden !== undefined) return failed(file, text, [forbidden]);
  const read = readDocument(text);
  if (!read.ok) return failed(file, text, read.faults);
  if (read.document === undefined) return failed(file, text, [emptyFault()]);
  const { tree, faults } = buildTree(read.document.contents, text);
  if (faults.length > 0) return failed(file, text, faults);
  return { ok: true, tree, positionAt: indexLines(text) };
}

function failed(file: string, text: string, faults: readonly Fault[]): SourceResult {
  const positionAt = indexLines(text);
  const problems = faults.map(({ offset, ...remark }): Problem => {
    return { level: 'error', file, position: positionAt(offset), path: '', ...remark };
  });
  return { ok: false, problems: sorted(problems) };
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** YAML forbids control characters; the yaml package lets them in, and even uses some itself. */
function forbiddenIn(text: string): Fault | undefined {
  for (let offset = 0; offset < text.length; offset++) {
    const unit = text.charCodeAt(offset);
    if (isControl(unit) || isReordering(unit)) {
      const message = `the invisible character ${codePointName(unit)} may not stand in a bundle`;
      const fix = 'Remove it, or write it as an escape in double quotes.';
      return { code: 'SUB_BUNDLE_ENCODING', offset, message, fix };
    }
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(offset + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) {
      const message = `half of a surrogate pair (${codePointName(unit)}) is no character`;
      const fix = 'Save the file as UTF-8.';
      return { code: 'SUB_BUNDLE_ENCODING', offset, message, fix };
    }
    offset++;
  }
  return undefined;
}

/** All but tab, line feed, carriage return and NEL, which YAML has as a line break. */
function isControl(unit: number): boolean {
  if (unit < 0x20) return unit !== 0x09 && unit !== 0x0a && unit !== 0x0d;
  return unit >= 0x7f && unit <= 0x9f && unit !== 0x85;
}

/** Embeddings, overrides and isolates: they show a reviewer another text than the one that holds. */
function isReordering(unit: number): boolean {
  return (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069);
}

function codePointName(unit: number): string {
  return `U+${unit.toString(16).toUpperCase().padStart(4, '0')}`;
}

function sizeFault(): Fault {
  const message = `larger than ${BYTES_MAX} bytes`;
  return { code: 'SUB_BUNDLE_TOO_LARGE', offset: 0, message, fix: 'Split the bundle.' };
}

function byteFault(badByte: number, offset: number): Fault {
  const message = `the byte 0x${badByte.toString(16)} is not valid UTF-8 here`;
  return { code: 'SUB_BUNDLE_ENCODING', offset, message, fix: 'Save the file as UTF-8.' };
}

function emptyFault(): Fault {
  const fix = 'Start with `policy_id`, `version`, `mode`, `defaults`, `selectors` and `rules`.';
  return { code: 'SUB_BUNDLE_SYNTAX', offset: 0, message: 'the file holds no bundle', fix };
}

export type { Source, SourceResult, SourceTree };
export { BYTES_MAX, readSource };
