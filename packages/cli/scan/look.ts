// The detectors on one source, as wide as a file may be; or within the limits that the gates have.
import { isObject } from '@subluminal/contracts';
import {
  type Finding,
  type Limits,
  type ScanOptions,
  type Strictness,
  scanJson,
  scanText,
  scanToolDefinition,
  type Unscanned,
  type Verdict,
} from '@subluminal/core/detect';
import { SOURCE_BYTES_MAX, type Source } from './source.ts';

export type Gap =
  | Unscanned
  | { readonly reason: 'not_utf8'; readonly path: null; readonly count: number };

export interface Looked {
  readonly findings: readonly Finding[];
  readonly gaps: readonly Gap[];
  readonly scannedUnits: number;
}

export interface Looking {
  readonly as: Strictness;
  readonly fingerprint: (text: string) => string;
}

/** No file that is read has more of either. */
const WIDE: Partial<Limits> = { unitsMax: SOURCE_BYTES_MAX, nodesMax: SOURCE_BYTES_MAX };
const TOOLS_MAX = 10_000;

/** Everything that a file holds. */
export function look(source: Source, looking: Looking): Looked {
  const { findings, unscanned, scannedUnits } = verdictOf(source, looking, WIDE);
  const { unreadable } = source;
  const unread: Gap[] =
    unreadable === 0 ? [] : [{ reason: 'not_utf8', path: null, count: unreadable }];
  return { findings, gaps: [...unread, ...unscanned], scannedUnits };
}

/** What a gate would see of it. */
export function gateVerdict(source: Source, looking: Looking): Verdict {
  return verdictOf(source, looking, {});
}

function verdictOf(source: Source, looking: Looking, limits: Partial<Limits>): Verdict {
  const { as: strictness, fingerprint } = looking;
  const options: ScanOptions = { fingerprint, strictness, limits };
  if (source.json === undefined) return scanText(source.text, options);
  const { value } = source.json;
  const verdict = scanJson(value, options);
  if (strictness === 'result') return verdict;
  return { ...verdict, findings: [...oddNames(value, fingerprint), ...verdict.findings] };
}

/** Names that no tool should have, wherever a list of tools may stand. */
function oddNames(value: unknown, fingerprint: Looking['fingerprint']): readonly Finding[] {
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

/** Whether nobody can tell what is there. A file without text, such as an image, has none. */
export function isHole({ reason }: Gap): boolean {
  return reason !== 'binary';
}
