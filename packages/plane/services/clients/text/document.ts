// A config file as data and as text at once: which value stands where.

import { DUPLICATE_KEY, type DuplicateKey, readJson } from './json.ts';
import { valueAt } from './plain-data.ts';
import { readToml, standsAlone } from './toml.ts';
import {
  type BrokenReason,
  type Format,
  LIMITS,
  lineColumn,
  nodeAt,
  type TextNode,
  type TextSpan,
  TextSyntaxError,
  type ValuePath,
} from './tree.ts';

export interface ConfigDocument {
  readonly text: string;
  readonly format: Format;
  /** Plain data; dates of TOML are those of its parser. */
  readonly value: unknown;
  /** The value at the path, own properties only. */
  valueAt(path: ValuePath): unknown;
  /** Where the value stands; undefined where it has no text of its own (a TOML table of lines). */
  spanAt(path: ValuePath): TextSpan | undefined;
  /** For edits. */
  readonly root: TextNode;
}

export interface BrokenText {
  readonly kind: 'broken';
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly reason: BrokenReason;
  /** A sentence; holds nothing of the file, where secrets may stand. */
  readonly message: string;
}

export type ReadDocument =
  | { readonly kind: 'document'; readonly document: ConfigDocument }
  | BrokenText;

/** A change looks at the same few texts again and again: those that were read last are kept. */
const KEPT_MAX = 8;
/** Of all that are kept; the last one may be longer. */
const KEPT_LENGTH_MAX = 33_554_432;
/** A short text is read at once, and must not drive out a long one. */
const KEPT_LENGTH_MIN = 4_096;
const kept: { readonly text: string; readonly format: Format; readonly read: ReadText }[] = [];
/** A document, and the keys that are there more than once. */
type ReadText = ReadDocument & { readonly duplicates?: readonly DuplicateKey[] };

/**
 * Reads a config. A key that occurs twice makes it ambiguous, hence broken; with `inside`, only where
 * that lies on the way to one of these paths or below it.
 */
export function readDocument(
  text: string,
  format: Format,
  inside?: readonly ValuePath[],
): ReadDocument {
  const at = kept.findIndex((one) => one.format === format && one.text === text);
  const [found = { text, format, read: readAnew(text, format) }] =
    at === -1 ? [] : kept.splice(at, 1);
  keep(found);
  const { duplicates = [] } = found.read;
  const first = duplicates.find(
    ({ path }) => inside === undefined || inside.some((other) => areInLine(path, other)),
  );
  if (first === undefined) return found.read;
  return broken(text, new TextSyntaxError(DUPLICATE_KEY, first.offset, 'ambiguous'));
}

/** The same, where it does not matter why a text cannot be read. */
export function documentIn(
  ...[text, format, inside]: Parameters<typeof readDocument>
): ConfigDocument | undefined {
  const read = readDocument(text, format, inside);
  return read.kind === 'document' ? read.document : undefined;
}

/** The last one first. */
function keep(found: (typeof kept)[number]): void {
  if (found.text.length < KEPT_LENGTH_MIN) return;
  kept.unshift(found);
  kept.splice(KEPT_MAX);
  const total = () => kept.reduce((sum, { text }) => sum + text.length, 0);
  while (kept.length > 1 && total() > KEPT_LENGTH_MAX) kept.pop();
}

function readAnew(text: string, format: Format): ReadText {
  if (text.length > LIMITS.bytesMax || Buffer.byteLength(text) > LIMITS.bytesMax) {
    return broken('', new TextSyntaxError('The file is larger than 32 MiB.', 0, 'limit'));
  }
  try {
    const { root, value, duplicates } = readAs(text, format);
    return { kind: 'document', document: makeDocument({ text, format, root, value }), duplicates };
  } catch (cause) {
    if (!(cause instanceof TextSyntaxError)) throw cause;
    return broken(text, cause);
  }
}

function broken(text: string, { offset, message, reason }: TextSyntaxError): BrokenText {
  return { kind: 'broken', ...lineColumn(text, offset), message, reason };
}

function readAs(
  text: string,
  format: Format,
): { root: TextNode; value: unknown; duplicates: readonly DuplicateKey[] } {
  if (format === 'toml') return { ...readToml(text), duplicates: [] };
  return readJson(text, { allowsComments: format === 'jsonc' });
}

/** Whether one of the paths leads through the other. */
function areInLine(a: ValuePath, b: ValuePath): boolean {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function makeDocument(
  parts: Pick<ConfigDocument, 'text' | 'format' | 'root' | 'value'>,
): ConfigDocument {
  return {
    ...parts,
    valueAt: (path) => valueAt(parts.value, path),
    spanAt: (path) => {
      const span = nodeAt(parts.root, path)?.span;
      if (span === undefined || parts.format !== 'toml') return span;
      const isRight = standsAlone(
        parts.text.slice(span.start, span.end),
        valueAt(parts.value, path),
      );
      return isRight ? span : undefined;
    },
  };
}
