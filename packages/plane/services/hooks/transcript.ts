// A second look at what a session of a client did: tools that have run by its transcript, and that no hook has told of.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@subluminal/contracts';
import type { HookDialect, ToolUse } from '@subluminal/core/hooks';
import { plural } from '@subluminal/core/plural';
import { attempt, readRegularFile } from '../../os/index.ts';

/** How long each file of a transcript was when the session was first heard of: it may go on with an older one. */
export type TranscriptStart = ReadonlyMap<string, number>;

type SilentUses =
  /** The names of tools, each once, and how many uses there were. */
  | { readonly kind: 'found'; readonly count: number; readonly tools: readonly string[] }
  | { readonly kind: 'unread'; readonly why: string };

const BYTES_MAX = 64 * 1_048_576;
const FILES_MAX = 256;
const TOOLS_MAX = 8;
const USES_MAX = 100_000;

export function transcriptStart(path: string): TranscriptStart {
  const sizes = filesOf(path).map((file) => [file, sizeOf(file)] as const);
  return new Map(sizes);
}

function sizeOf(path: string): number {
  return attempt(() => statSync(path, { throwIfNoEntry: false }))?.size ?? 0;
}

/** Sub-agents of Claude Code have files of their own beside that of the session. */
function filesOf(path: string): readonly string[] {
  const folder = join(path.replace(/\.jsonl$/, ''), 'subagents');
  const names = attempt(() => readdirSync(folder)) ?? [];
  const own = names.filter((name) => name.endsWith('.jsonl')).slice(0, FILES_MAX);
  return [path, ...own.map((name) => join(folder, name))];
}

interface ToldSession {
  readonly dialect: HookDialect;
  readonly transcript: { readonly path: string; readonly start: TranscriptStart } | undefined;
  readonly told: ReadonlySet<string>;
  readonly hasForgotten: boolean;
}

/** Says which tools have run without a hook, as far as the client has written it down. */
export function silenceNote(session: ToldSession): string | undefined {
  const { dialect, transcript, told, hasForgotten } = session;
  if (transcript === undefined) return undefined;
  const silent: SilentUses | undefined = hasForgotten
    ? { kind: 'unread', why: 'has too many uses' }
    : silentUses(dialect, { ...transcript, told });
  if (silent === undefined) return undefined;
  const { client } = dialect;
  return silent.kind === 'unread'
    ? `the transcript of ${client} ${silent.why}: whether its hooks told all is not known`
    : `${plural(silent.count, 'use')} of tools of ${client} reached no hook: ${silent.tools.join(', ')}`;
}

/** What has run since then without a word of a hook; undefined where nothing has, or nothing is known. */
function silentUses(
  { transcriptLine }: Pick<HookDialect, 'transcriptLine'>,
  session: {
    readonly path: string;
    readonly start: TranscriptStart;
    readonly told: ReadonlySet<string>;
  },
): SilentUses | undefined {
  if (transcriptLine === undefined) return undefined;
  const { path, start, told } = session;
  const tools = new Map<string, string>();
  const ran = new Set<string>();
  let bytesLeft = BYTES_MAX;
  for (const file of filesOf(path)) {
    const read = readRegularFile(file, { bytesMax: BYTES_MAX });
    if (read.kind === 'missing') continue;
    if (read.kind !== 'read') return { kind: 'unread', why: read.why };
    const fresh = read.bytes.subarray(start.get(file) ?? 0);
    bytesLeft -= fresh.length;
    if (bytesLeft < 0) return { kind: 'unread', why: 'is too long' };
    for (const line of fresh.toString('utf8').split('\n')) {
      const { uses, ran: ended } = transcriptLine(line);
      for (const { useId, tool } of uses) if (tools.size < USES_MAX) tools.set(useId, tool);
      for (const useId of ended) if (ran.size < USES_MAX) ran.add(useId);
    }
  }
  const silent = [...tools].filter(([useId]) => ran.has(useId) && !told.has(useId));
  if (silent.length === 0) return undefined;
  const names = [...new Set(silent.map(([, tool]) => tool))].slice(0, TOOLS_MAX);
  return { kind: 'found', count: silent.length, tools: names };
}

const TAIL_BYTES = 262_144;

/** What the end of a transcript says of a use that is about to run, beyond what its hook tells. */
export function untoldArgs(
  { transcriptArgs }: Pick<HookDialect, 'transcriptArgs'>,
  path: string | undefined,
  { useId, server }: ToolUse,
): JsonObject {
  if (transcriptArgs === undefined || path === undefined) return {};
  if (useId === undefined || server !== undefined) return {};
  const lines = (attempt(() => tailOf(path)) ?? '').split('\n');
  for (const line of lines.toReversed()) {
    const args = transcriptArgs(line, useId);
    if (args !== undefined) return args;
  }
  return {};
}

/** Never waits, whatever is at the path. */
function tailOf(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return '';
    const bytes = Buffer.alloc(Math.min(TAIL_BYTES, stats.size));
    const length = readSync(fd, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
}
