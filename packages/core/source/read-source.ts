// Bytes or text → a tree with positions, or the problems of the text. Never throws and never hangs:
// the input is bounded before, while and after it is parsed.

import { decodeUtf8 } from '../json/text.ts';
import { codePointName } from '../text/visible.ts';
import { jsonFault } from './json-syntax.ts';
import { type Fault, indexLines, type PositionAt, type Problem, sorted } from './problem.ts';
import type { Tree } from './tree.ts';
import { readDocument } from './yaml-document.ts';
import { buildTree } from './yaml-tree.ts';

export type Source =
  | { readonly file: string; readonly bytes: Uint8Array }
  | { readonly file: string; readonly text: string };

export interface SourceTree {
  readonly ok: true;
  readonly tree: Tree;
  readonly positionAt: PositionAt;
}

export type SourceResult =
  | SourceTree
  | { readonly ok: false; readonly problems: readonly Problem[] };

export const BYTES_MAX = 1_048_576;
const BYTE_ORDER_MARK = '\uFEFF';
const SIZE_FAULT: Fault = {
  code: 'SUB_BUNDLE_TOO_LARGE',
  offset: 0,
  message: `larger than ${BYTES_MAX} bytes`,
  fix: 'Split the bundle.',
};
const EMPTY_FAULT: Fault = {
  code: 'SUB_BUNDLE_SYNTAX',
  offset: 0,
  message: 'the file holds no bundle',
  fix: 'Start with `policy_id`, `version`, `mode` and `rules`.',
};

/** Reads YAML or JSON; JSON is read as the YAML that it is, once it is known to be JSON. */
export function readSource(source: Source): SourceResult {
  const { file } = source;
  const length = 'bytes' in source ? source.bytes.length : source.text.length;
  if (length > BYTES_MAX) return failed(file, '', [SIZE_FAULT]);
  const decoded = 'bytes' in source ? decodeUtf8(source.bytes) : { ok: true as const, ...source };
  if (!decoded.ok) {
    const text = withoutMark(decoded.textBefore);
    // The bad byte is a place in the file, too.
    return failed(file, `${text}\uFFFD`, [byteFault(decoded.badByte, text.length)]);
  }
  const text = withoutMark(decoded.text);
  // An empty file is called empty, whatever its name.
  const isJson = /\.json$/i.test(file) && text.trim() !== '';
  const refused = lineEndFault(text) ?? forbiddenIn(text) ?? (isJson ? jsonFault(text) : undefined);
  if (refused !== undefined) return failed(file, text, [refused]);
  const read = readDocument(text);
  if (!read.ok) return failed(file, text, read.faults);
  if (read.document === undefined) return failed(file, text, [EMPTY_FAULT]);
  const { tree, faults } = buildTree(read.document.contents, text);
  if (faults.length > 0) return failed(file, text, faults);
  return { ok: true, tree, positionAt: indexLines(text) };
}

function failed(file: string, text: string, faults: readonly Fault[]): SourceResult {
  const positionAt = indexLines(text);
  const problems = faults.map(({ offset, code, message, fix }): Problem => {
    return { level: 'error', file, position: positionAt(offset), path: '', code, message, fix };
  });
  return { ok: false, problems: sorted(problems) };
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** With bare carriage returns the whole file is one line, and every message would be about it. */
function lineEndFault(text: string): Fault | undefined {
  const offset = text.indexOf('\r');
  if (offset === -1 || text.includes('\n')) return undefined;
  const message = 'the line endings are bare carriage returns, so this is all one line';
  const fix = 'Save the file with LF line endings.';
  return { code: 'SUB_BUNDLE_SYNTAX', offset, message, fix };
}

/**
 * Controls, line breaks that not every reader takes for one, halves of pairs, and what is invisible
 * or reorders text: a reviewer must see what a policy says. Escapes in double quotes can be seen.
 * Joiners and variation selectors belong to emoji and to some scripts; lint looks at those in names.
 */
const FORBIDDEN =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}|\r(?!\n)/u;

function forbiddenIn(text: string): Fault | undefined {
  const found = FORBIDDEN.exec(text);
  if (found === null) return undefined;
  const [char] = found;
  const at = { code: 'SUB_BUNDLE_ENCODING', offset: found.index } as const;
  const name = codePointName(char);
  if (char === '\r') {
    const message = 'a carriage return without a line feed is no line end';
    return { ...at, message, fix: 'Save the file with LF line endings.' };
  }
  if (/\p{Cs}/u.test(char)) {
    const message = `half of a surrogate pair (${name}) is no character`;
    return { ...at, message, fix: 'Save the file as UTF-8.' };
  }
  const message = `the invisible character ${name} may not stand in a bundle`;
  return { ...at, message, fix: 'Remove it, or write it as an escape in double quotes.' };
}

function byteFault(badByte: number, offset: number): Fault {
  const message = `the byte 0x${badByte.toString(16)} is not valid UTF-8 here`;
  return { code: 'SUB_BUNDLE_ENCODING', offset, message, fix: 'Save the file as UTF-8.' };
}
