// Reads a file as JSON or text and runs the detectors on it: without limits, or with those of the gates.
import { type Failure, isFailure, isObject } from '@subluminal/contracts';
import {
  type ContentFinding,
  type ScanLimits,
  type ScanOptions,
  type ScanVerdict,
  type Strictness,
  scanJson,
  scanText,
  scanToolDefinition,
  type Unscanned,
} from '@subluminal/core/detect';
import { canonicalize } from '@subluminal/core/json';
import { readFileBytes } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';

export interface Source {
  readonly kind: 'source';
  readonly name: string;
  readonly text: string;
  /** What the JSON holds; absent where it is no JSON. */
  readonly json?: { readonly value: unknown };
  /** Characters that stand for bytes which are no UTF-8. */
  readonly unreadable: number;
}

const SOURCE_BYTES_MAX = 10_000_000;
const REPLACED = /\uFFFD/g;

export async function readSource(path: string, io: Io): Promise<Source | Failure> {
  const file = await readFileBytes(path, { io, bytesMax: SOURCE_BYTES_MAX });
  if (isFailure(file)) return file;
  const { text, unreadable } = decoded(file.bytes);
  const base = { kind: 'source', name: file.name, text, unreadable } as const;
  // JSON that names a member twice would hide one of both, hence it is looked at as text.
  if (unreadable > 0 || !canonicalize(text).ok) return base;
  const value: unknown = JSON.parse(text);
  return { ...base, json: { value } };
}

function decoded(bytes: Uint8Array): Pick<Source, 'text' | 'unreadable'> {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), unreadable: 0 };
  } catch {
    const text = new TextDecoder().decode(bytes);
    return { text, unreadable: text.match(REPLACED)?.length ?? 1 };
  }
}

/** Line and column of a place in a text, both from 1. */
export function placesIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

export type Gap =
  | Unscanned
  | { readonly reason: 'not_utf8'; readonly path: null; readonly count: number };

export interface ScanSettings {
  readonly as: Strictness;
  readonly fingerprint: (text: string) => string;
}

/** No file that is read has more of either. */
const WIDE: Partial<ScanLimits> = { unitsMax: SOURCE_BYTES_MAX, nodesMax: SOURCE_BYTES_MAX };
const TOOLS_MAX = 10_000;

/** Everything that a file holds. */
export function scanWhole(source: Source, looking: ScanSettings) {
  const { findings, unscanned, scannedUnits } = verdictOf(source, looking, WIDE);
  const { unreadable } = source;
  const unread: Gap[] =
    unreadable === 0 ? [] : [{ reason: 'not_utf8', path: null, count: unreadable }];
  return { findings, gaps: [...unread, ...unscanned], scannedUnits };
}

/** The verdict with the limits of a gate. */
export function gateVerdict(source: Source, looking: ScanSettings): ScanVerdict {
  return verdictOf(source, looking, {});
}

function verdictOf(
  source: Source,
  looking: ScanSettings,
  limits: Partial<ScanLimits>,
): ScanVerdict {
  const { as: strictness, fingerprint } = looking;
  const options: ScanOptions = { fingerprint, strictness, limits };
  if (source.json === undefined) return scanText(source.text, options);
  const { value } = source.json;
  const verdict = scanJson(value, options);
  if (strictness === 'result') return verdict;
  return { ...verdict, findings: [...oddNames(value, fingerprint), ...verdict.findings] };
}

/** Names that no tool should have, wherever a list of tools may stand. */
function oddNames(
  value: unknown,
  fingerprint: ScanSettings['fingerprint'],
): readonly ContentFinding[] {
  return toolsIn(value).flatMap(({ path, tool }) => {
    const name: unknown = isObject(tool) ? tool['name'] : undefined;
    if (typeof name !== 'string') return [];
    const { findings } = scanToolDefinition({ name }, { fingerprint, classes: ['hidden_text'] });
    return findings
      .filter(({ rule }) => rule === 'odd-name')
      .map((finding) => ({ ...finding, path: `${path}.name` }));
  });
}

/** One tool, a list of tools, or the answer to `tools/list` with or without its envelope. */
function toolsIn(value: unknown): readonly { readonly path: string; readonly tool: unknown }[] {
  const result: unknown = isObject(value) ? value['result'] : undefined;
  const lists = [
    { path: '$', list: value },
    { path: '$.tools', list: isObject(value) ? value['tools'] : undefined },
    { path: '$.result.tools', list: isObject(result) ? result['tools'] : undefined },
  ];
  const listed = lists.flatMap(({ path, list }) =>
    Array.isArray(list)
      ? list.map((tool: unknown, index) => ({ path: `${path}[${index}]`, tool }))
      : [],
  );
  return [{ path: '$', tool: value }, ...listed].slice(0, TOOLS_MAX);
}

/** Whether text was left unscanned. A file without text, such as an image, has none. */
export function isHole({ reason }: Gap): boolean {
  return reason !== 'binary';
}
