// `sub shim` by the short way: no command line library, no colours, nothing that a shim that must
// start in an instant does not need. Its help is commands/shim.ts.
import { parseArgs } from 'node:util';
import { harmless } from '@subluminal/core/visible';
import { type ShimOptions, startShim } from '@subluminal/plane/apps/shim';
import { COMMAND_AND_URL, readRemoteArguments } from '../input/remote-arguments.ts';
import { isWorkingFolderGone, MISSING_FOLDER } from '../terminal/working-folder.ts';

const HELP = 'Run `sub shim --help` to see what it takes.';
const EXIT_USAGE = 2;
const EXIT_INTERNAL = 70;

const OPTIONS = {
  'server-name': { type: 'string' },
  'server-id': { type: 'string' },
  'server-env': { type: 'string' },
  policy: { type: 'string' },
  profile: { type: 'string' },
  events: { type: 'string' },
  'governance-endpoint': { type: 'string' },
  'log-level': { type: 'string' },
  verbose: { type: 'boolean' },
  wrap: { type: 'string' },
  url: { type: 'string' },
  'url-env': { type: 'string' },
  header: { type: 'string', multiple: true },
  'header-env': { type: 'string', multiple: true },
  'bearer-env': { type: 'string' },
  transport: { type: 'string' },
  // What `sub auth login` finds in the entry; a shim logs in nowhere.
  'client-id': { type: 'string' },
  'redirect-uri': { type: 'string' },
  scope: { type: 'string' },
} as const;
/** Part of the name of a file, so nothing else gets in. */
const WRAP_ID = /^[a-z0-9-]{1,64}$/;

const WRONG_WRAP = '--wrap takes an id of 1 to 64 small letters, digits and dashes';

type ShimArguments =
  | {
      readonly ok: true;
      readonly serverName: string;
      readonly command: readonly string[];
      readonly flags: Flags;
      readonly remote?: ShimOptions['remote'];
    }
  | { readonly ok: false; readonly message: string };
type Flags = { readonly [name: string]: string | undefined };

function readArguments(argv: readonly string[]): ShimArguments {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  try {
    const { values } = parseArgs({ args: [...own], options: OPTIONS, strict: true });
    const { 'server-name': name, 'server-id': id, verbose = false, ...others } = values;
    const {
      'client-id': clientId,
      'redirect-uri': redirectUri,
      scope,
      url: _url,
      'url-env': _urlEnv,
      header: _header,
      'header-env': _headerEnv,
      'bearer-env': _bearerEnv,
      transport: _transport,
      ...given
    } = others;
    const serverName = name ?? id;
    const remote = readRemoteArguments(others, process.env);
    if (typeof remote === 'string') return { ok: false, message: remote };
    const flags = verbose ? { 'log-level': 'debug', ...given } : given;
    if (!WRAP_ID.test(flags.wrap ?? 'none')) return { ok: false, message: WRONG_WRAP };
    if (remote === undefined) {
      if (end === -1) return { ok: false, message: NO_COMMAND };
      const login = [clientId, redirectUri, scope];
      if (login.some((one) => one !== undefined)) return { ok: false, message: NEEDS_URL };
    }
    if (!serverName) return { ok: false, message: '--server-name is missing' };
    const command = end === -1 ? [] : argv.slice(end + 1);
    if (remote !== undefined) {
      if (command.length > 0) return { ok: false, message: COMMAND_AND_URL };
      return { ok: true, serverName, command, flags, remote };
    }
    if (command.length === 0) return { ok: false, message: 'no command stands behind `--`' };
    return { ok: true, serverName, command, flags };
  } catch (cause) {
    return { ok: false, message: argumentProblem(cause) };
  }
}

const NO_COMMAND =
  'the command of the server must stand behind `--`, or its address behind `--url`';
const NEEDS_URL = '--client-id, --redirect-uri and --scope need --url';

/** Describes a wrong command line in our own words. */
function argumentProblem(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  const [, name = ''] = /'(-[^ '=]*|[^']*)/.exec(message) ?? [];
  switch (code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return `unknown option \`${name}\``;
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return `\`${name}\` needs a value; one that starts with a dash stands in the same word: \`${name}=VALUE\``;
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `\`${name}\` stands before \`--\`; the server's command stands behind it`;
    default:
      return message;
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const wanted = readArguments(argv);
  if (!wanted.ok) return refuse(`${wanted.message}. ${HELP}`, 'SUB_USAGE');
  const { serverName, flags, remote } = wanted;
  const [command = '', ...args] = wanted.command;
  const started = await startShim({
    serverName,
    command,
    args,
    remote,
    env: process.env,
    cwd: process.cwd(),
    flags,
    started: { program: [process.execPath, process.argv[1] ?? ''], words: argv },
  });
  return started.ok ? started.exitCode : refuse(started.message, 'SUB_SHIM_START');
}

function refuse(message: string, code: string): number {
  const text = message.split('\n').map(harmless).join('\n');
  // Some messages end with their code already.
  const named = /\[SUB_[A-Z_]+\]$/.test(text) ? '' : ` [${code}]`;
  process.stderr.write(`sub: ${text}${named}\n`);
  return EXIT_USAGE;
}

/** A defect of sub: prints one line and exits. The guard of the server then ends the server. */
function crash(cause: unknown): never {
  if (isWorkingFolderGone(cause)) {
    const { message, fix } = MISSING_FOLDER;
    process.exit(refuse(`${message} ${fix}`, 'SUB_FILE_READ'));
  }
  const isDebug = process.env['SUB_DEBUG'] === '1' && cause instanceof Error;
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  const more = isDebug ? `\n${cause.stack ?? ''}` : '';
  process.stderr.write(`sub: internal error: ${JSON.stringify(line)} [SUB_INTERNAL]${more}\n`);
  process.exit(EXIT_INTERNAL);
}

// A shim goes on when its standard error is closed.
process.stderr.on('error', () => undefined);
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
// Everything is flushed by then, and a handle that is still open must not keep the process.
void main(process.argv.slice(3)).then((code) => process.exit(code));
