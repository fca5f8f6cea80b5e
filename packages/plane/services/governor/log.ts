// What the shim tells the person in front of the machine: JSON lines on stderr, few and bounded
// unless more is asked for.
import type { Profile } from '@subluminal/contracts';
import { harmlessJson } from '@subluminal/core/visible';
import { lazyStderr } from './stderr.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LEVELS)[number];
type Facts = { readonly [name: string]: unknown };

export interface Log {
  /** Whether lines of this level are written. */
  isOn(level: LogLevel): boolean;
  write(level: LogLevel, facts: Facts): void;
  warn(text: string, facts?: Facts): void;
}

interface LogOptions {
  readonly serverName: string;
  readonly profile: Profile;
  readonly level: LogLevel;
  readonly now: () => number;
}

const LINES_PER_MINUTE_MAX = 60;
const MINUTE_MS = 60_000;

export function createLog({ serverName: server_id, profile, level, now }: LogOptions): Log {
  const highest = LEVELS.indexOf(level);
  // Who asks for all lines gets them. Else a flood of bad messages must not become one of lines.
  const linesMax =
    highest >= LEVELS.indexOf('info') ? Number.POSITIVE_INFINITY : LINES_PER_MINUTE_MAX;
  const writeLine = lazyStderr();
  let minute = 0;
  let lines = 0;
  const isOn = (wanted: LogLevel): boolean => LEVELS.indexOf(wanted) <= highest;
  const write: Log['write'] = (wanted, facts) => {
    if (!isOn(wanted)) return;
    const current = Math.floor(now() / MINUTE_MS);
    if (current !== minute) [minute, lines] = [current, 0];
    if (++lines > linesMax) return;
    const timestamp = new Date().toISOString();
    const line = { timestamp, level: wanted, component: 'shim', server_id, profile, ...facts };
    writeLine(harmlessJson(JSON.stringify(line)));
  };
  return {
    isOn,
    write,
    warn: (text, facts = {}) => write('warn', { message: text, ...facts }),
  };
}
