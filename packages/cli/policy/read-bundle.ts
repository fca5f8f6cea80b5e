// A bundle as it was written, with all that reading and lint have to say about it. Apart from the loading of a
// policy: a run that loads one lints nothing.
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  lintBundle,
  loadPatternChecks,
  type ParseResult,
  POLICY_FILE_BYTES_MAX,
  type Problem,
  parseBundle,
} from '@subluminal/core/policy';
import { homePaths } from '@subluminal/plane/config';
import { BUNDLE_BYTES_MAX } from '@subluminal/plane/policy/file';
import { type FileBytes, readFileBytes } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { notABundle } from './file-kind.ts';

export interface ReadBundle {
  readonly kind: 'bundle';
  readonly file: FileBytes;
  readonly parsed: ParseResult;
  /** What reading found, and what lint has to say if it could be read. */
  readonly problems: readonly Problem[];
}

/** Reads and lints one bundle; with the names of pinned tools, it compares those of the rules with them. */
export async function readBundle(
  path: string,
  io: Io,
  tools?: PinnedTools,
): Promise<ReadBundle | Failure> {
  const file = await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX });
  return isFailure(file) ? file : (notABundle(file) ?? lintFile(file, tools));
}

type PinnedTools = ReadonlyMap<string, readonly string[]>;

/** The tools of every server that is pinned on this machine; none where the pins cannot be read. */
export async function pinnedTools(): Promise<PinnedTools> {
  const { openPins } = await import('@subluminal/plane/surface');
  const pins = openPins(homePaths(process.env).home);
  if (isFailure(pins)) return new Map();
  return new Map([...pins.store.servers].map(([server, { tools }]) => [server, [...tools.keys()]]));
}

/** Lints a bundle that was read. */
export async function lintFile(file: FileBytes, tools?: PinnedTools): Promise<ReadBundle> {
  const source = { file: file.name, bytes: file.bytes.subarray(0, BUNDLE_BYTES_MAX) };
  const checks = await loadPatternChecks();
  const parsed = parseBundle(source, { checks });
  const { parseWhen } = checks;
  const place = { file: file.name, nowMs: Date.now(), parseWhen, tools };
  const advice = parsed.ok ? lintBundle(parsed.bundle, parsed.positionOf, place) : [];
  return { kind: 'bundle', file, parsed, problems: [...parsed.problems, ...advice] };
}
