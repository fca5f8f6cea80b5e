// What was asked for on the command line.

import { type Failure, failure } from '@subluminal/contracts';
import { momentMs } from '../input/moment.ts';
import type { TailFilter } from './filter.ts';
import type { TailOptions } from './options.ts';

export interface TailWish {
  readonly filter: TailFilter;
  /** So many calls that fit, before those that come. */
  readonly backlog: number;
}

const BACKLOG_DEFAULT = 10;
const BACKLOG_MAX = 10_000;

export function wishOf(options: TailOptions, nowMs: number): TailWish | Failure {
  const { run, agent, server, tool, decision, since, backlog } = options;
  if (since !== undefined && backlog !== undefined) {
    return failure('SUB_USAGE', '--since and --backlog exclude each other.', 'Give one.');
  }
  const count = backlog === undefined ? BACKLOG_DEFAULT : countOf(backlog);
  if (count === undefined) {
    const message = `--backlog \`${backlog ?? ''}\` is no count from 0 to ${BACKLOG_MAX}.`;
    return failure('SUB_USAGE', message, 'Write such a number.');
  }
  const fromMs = since === undefined ? undefined : momentMs(since, nowMs);
  if (since !== undefined && fromMs === undefined) {
    const fix = 'Write 2026-01-31T12:00:00Z, or 15m, 2h, 3d.';
    return failure('SUB_USAGE', `--since \`${since}\` is no time.`, fix);
  }
  const filter = {
    ...(run !== undefined && { runId: run }),
    ...(agent !== undefined && { agentId: agent }),
    ...(server !== undefined && { serverName: server }),
    ...(tool !== undefined && { toolName: tool }),
    ...(decision !== undefined && { decision }),
    ...(fromMs !== undefined && { fromMs }),
  };
  return { filter, backlog: count };
}

function countOf(text: string): number | undefined {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return count <= BACKLOG_MAX ? count : undefined;
}
