import { warn } from '../terminal/report-failure.ts';
// Starts a server and lists what it offers, for the commands that need that.

import { type Failure, failure } from '@subluminal/contracts';
import { probeServer, type ServerListing } from '@subluminal/plane/probe';
import { badUsage, done, type Outcome } from '../input/command.ts';
import { durationMs } from '../input/moment.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

export interface ProbeRequest {
  readonly server: string;
  readonly client: string | undefined;
  readonly timeout: string | undefined;
  readonly command: readonly string[];
}

export type LiveProbe =
  | { readonly kind: 'live'; readonly seen: ServerListing; readonly foundIn: string | null }
  /** What the command ends with. */
  | { readonly kind: 'ended'; readonly outcome: Outcome };

const TIMEOUT_MS = 30_000;
const TIMEOUT_MS_MAX = 3_600_000;
const SAID_LINES_MAX = 20;

export async function probeLive(wish: ProbeRequest, io: Io): Promise<LiveProbe> {
  const timeoutMs = wish.timeout === undefined ? TIMEOUT_MS : durationMs(wish.timeout);
  if (timeoutMs === undefined || timeoutMs === 0 || timeoutMs > TIMEOUT_MS_MAX) {
    return ended(badUsage('--timeout is not a valid time.', 'Write 30s, 2m or at most 1h.'));
  }
  const { server, client, command } = wish;
  const looked = await probeServer({
    server,
    client,
    command: command.length === 0 ? undefined : command,
    env: process.env,
    cwd: process.cwd(),
    timeoutMs,
    version: manifest.version,
  });
  if (looked.kind === 'interrupted') return ended(done(looked.exitCode));
  if (looked.kind === 'failure') {
    tellSaid(looked.said, io);
    return ended(failure(looked.code, looked.message, looked.fix));
  }
  for (const note of looked.seen.notes) warn(io, note);
  return { kind: 'live', seen: looked.seen, foundIn: looked.foundIn?.client ?? null };
}

function ended(outcome: Outcome): LiveProbe {
  return { kind: 'ended', outcome };
}

/** What a server that failed has said last. */
function tellSaid(said: string, io: Io): void {
  const lines = said.split(/\r?\n/).filter((line) => line.trim() !== '');
  for (const line of lines.slice(-SAID_LINES_MAX)) {
    io.err.write(`${io.err.colors.dim('the server said:')} ${harmless(line)}\n`);
  }
}

interface Words {
  readonly kind: 'words';
  readonly server: string;
  /** What stands before `--`, the server left out. */
  readonly before: readonly string[];
  readonly command: readonly string[];
}

/** The parser hands on one row of words; how many of them stood behind `--`, only the line tells. */
export function splitWords(
  server: string,
  words: readonly string[],
  argv: readonly string[] = process.argv.slice(2),
): Words | Failure {
  const at = argv.indexOf('--');
  const count = at === -1 ? 0 : argv.length - at - 1;
  if (count > words.length) {
    const fix = 'Write it before `--`; the pins and the manifest are kept under its name.';
    return badUsage('no server was named.', fix);
  }
  const split = words.length - count;
  return {
    kind: 'words',
    server,
    before: words.slice(0, split),
    command: words.slice(split),
  };
}

/** For commands that take nothing but a server before `--`. */
export function commandBehind(server: string, words: readonly string[]): Words | Failure {
  const split = splitWords(server, words);
  if (split.kind === 'failure' || split.before.length === 0) return split;
  const fix = 'Write the command of the server behind `--`.';
  return badUsage(`\`${split.before[0] ?? ''}\` is one word too many.`, fix);
}
