// Starts a server and lists what it offers, for the commands that need that.

import { durationMs, type Failure, failure } from '@subluminal/contracts';
import { probeServer, type RemoteStart, type ServerListing } from '@subluminal/plane/probe';
import { badUsage, type Done, done } from '../input/command.ts';
import {
  COMMAND_AND_URL,
  type RemoteArguments,
  readRemoteArguments,
} from '../input/remote-arguments.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

interface ProbeRequest {
  readonly server: string;
  readonly client: string | undefined;
  readonly timeout: string | undefined;
  readonly start: ServerStart;
}

/** How the command line says that the server is reached; empty where the config of a client says it. */
export interface ServerStart {
  readonly command: readonly string[];
  readonly remote: RemoteStart | undefined;
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
  { timeout, start: { command, remote }, ...names }: ProbeRequest,
  io: Io,
): Promise<SeenServer | Done | Failure> {
  const timeoutMs = timeout === undefined ? TIMEOUT_MS : durationMs(timeout);
  if (timeoutMs === undefined || timeoutMs === 0 || timeoutMs > TIMEOUT_MS_MAX) {
    return badUsage('--timeout is not a valid time.', 'Write 30s, 2m or at most 1h.');
  }
  const looked = await probeServer({
    ...names,
    command: command.length === 0 ? undefined : command,
    remote,
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
  readonly start: ServerStart;
  /** The words of the command line that say it, for the next command. */
  readonly again: readonly string[];
}

interface GivenWords {
  readonly server: string;
  readonly words: readonly string[];
  readonly options: RemoteArguments;
}

/** The parser does not tell how many of its words stood behind `--`, so the command line is counted. */
export function splitWords(
  { server, words, options }: GivenWords,
  argv: readonly string[] = process.argv.slice(2),
): Words | Failure {
  const at = argv.indexOf('--');
  const count = at === -1 ? 0 : argv.length - at - 1;
  if (count > words.length) {
    const fix = 'Write it before `--`; the pins and the manifest are kept under its name.';
    return badUsage('no server was named.', fix);
  }
  const split = words.length - count;
  const command = words.slice(split);
  const remote = readRemoteArguments(options, process.env);
  const wrong = remote !== undefined && command.length > 0 ? COMMAND_AND_URL : remote;
  if (typeof wrong === 'string') return badUsage(`${wrong}.`, 'Name the server in one way.');
  if (remote !== undefined && server === '') return badUsage('no server was named.', UNNAMED);
  const behind = command.length === 0 ? [] : ['--', ...command];
  return {
    kind: 'words',
    server,
    before: words.slice(0, split),
    start: { command, remote: typeof remote === 'string' ? undefined : remote },
    again: [...remoteWords(options), ...behind],
  };
}

const UNNAMED = 'Write its name first: the pins and the manifest are kept under it.';

function remoteWords(options: RemoteArguments): readonly string[] {
  const { url, header = [], 'header-env': headerEnv = [], 'bearer-env': bearer } = options;
  const { transport } = options;
  const single = { url, 'bearer-env': bearer, transport };
  return [
    ...Object.entries(single).flatMap(([name, value]) => (value ? [`--${name}`, value] : [])),
    ...header.flatMap((value) => ['--header', value]),
    ...headerEnv.flatMap((value) => ['--header-env', value]),
  ];
}

/** For commands that take nothing but a server before `--`. */
export function commandBehind(given: GivenWords): Words | Failure {
  const split = splitWords(given);
  if (split.kind === 'failure' || split.before.length === 0) return split;
  const fix = 'Write the command of the server behind `--`.';
  return badUsage(`\`${split.before[0] ?? ''}\` is one word too many.`, fix);
}
