// The log of a shim: JSON lines on stderr, few and bounded unless the log level asks for more.

import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Profile } from '@subluminal/contracts';
import { harmlessJson } from '@subluminal/core/visible';

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
  // Unless all lines are asked for, a flood of bad messages must not become a flood of lines.
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

// Lines on stderr never delay a call, even when nothing reads them.

/** Writes one line; false when there was no room for it. */
export type WriteLine = (line: string) => boolean;

const STDERR = '/proc/self/fd/2';
const WRITE = constants.O_WRONLY | constants.O_NONBLOCK;

/**
 * Opened with the first line: most shims never have one.
 * @public A test drives it in a process of its own.
 */
export function lazyStderr(): WriteLine {
  let write: WriteLine | undefined;
  return (line) => {
    write ??= openStderr();
    return write(line);
  };
}

/**
 * Opens the same pipe again: a descriptor of our own can be set not to block, without an effect on the server,
 * which has the old one. Anything but a pipe is written to as it is; a socket cannot be opened, and blocks
 * until it is read.
 */
function openStderr(): WriteLine {
  const fd = reopened();
  if (fd === undefined) return (line) => process.stderr.write(`${line}\n`);
  let isCut = false;
  return (line) => {
    try {
      const bytes = Buffer.from(isCut ? `\n${line}\n` : `${line}\n`);
      isCut = writeSync(fd, bytes) < bytes.length;
      return !isCut;
    } catch {
      return false;
    }
  };
}

function reopened(): number | undefined {
  try {
    // A file has an offset, which a new descriptor would not share.
    return fstatSync(2).isFIFO() ? openSync(STDERR, WRITE) : undefined;
  } catch {
    return undefined;
  }
}
