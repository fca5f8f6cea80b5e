// Starts a server and lists what it offers, for the commands that need that.

import { type Failure, failure } from '@subluminal/contracts';
import { probeServer, type ServerListing } from '@subluminal/plane/probe';
import { badUsage, type Done, done } from '../input/command.ts';
import { durationMs } from '../input/moment.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

interface ProbeRequest {
  readonly server: string;
  readonly client: string | undefined;
  readonly timeout: string | undefined;
  readonly command: readonly string[];
}

interface SeenServer {
  readonly kind: 'seen';
  readonly seen: ServerListing;
  readonly transport: 'stdio' | 'http' | 'sse';
}

const TIMEOUT_MS = 30_000;
const TIMEOUT_MS_MAX = 3_600_000;
const SAID_LINES_MAX = 20;

/** Lists what the server offers. `Done` when the person has interrupted it. */
export async function probeLive(
  { timeout, command, ...names }: ProbeRequest,
  io: Io,
): Promise<SeenServer | Done | Failure> {
  const timeoutMs = timeout === undefined ? TIMEOUT_MS : durationMs(timeout);
  if (timeoutMs === undefined || timeoutMs === 0 || timeoutMs > TIMEOUT_MS_MAX) {
    return badUsage('--timeout is not a valid time.', 'Write 30s, 2m or at most 1h.');
  }
  const looked = await probeServer({
    ...names,
    command: command.length === 0 ? undefined : command,
    env: process.env,
    cwd: process.cwd(),
    timeoutMs,
    version: manifest.version,
  });
  if (looked.kind === 'interrupted') return done(looked.exitCode);
  if (looked.kind === 'failure') {
    tellSaid(looked.said ?? '', io);
    return failure(looked.code, looked.message, looked.fix);
  }
  const { seen, transport } = looked;
  return { kind: 'seen', seen, transport };
}

/** The last lines that a failed server wrote to standard error. */
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

/** The parser does not tell how many of its words stood behind `--`, so the command line is counted. */
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
