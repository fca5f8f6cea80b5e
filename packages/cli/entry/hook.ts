// `sub hook CLIENT`: what a client starts around each use of a tool. It passes what it is told to the host of
// the run's hooks and prints the answer; whatever goes wrong, the use is refused. It starts so often that it
// loads next to nothing. Its help is commands/hook.ts.
import { readSync, writeFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';

interface Reply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: 0 | 2;
}

const BODY_BYTES_MAX = 16 * 1_048_576;
const REPLY_BYTES_MAX = 64 * 1_048_576;
const CHUNK_BYTES = 65_536;
/** Clients end a hook after a day where a person may be asked, after ten minutes elsewhere. */
const HELD_MS = 86_000_000;
const UNHELD_MS = 500_000;
const HELD_EVENT =
  /^(?:PreToolUse|UserPromptSubmit|BeforeTool|BeforeAgent|before\w+|preToolUse|userPromptSubmitted)$/;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const EXIT_REFUSED = 2;
const FIX = 'Run `sub doctor` to see why.';
const USAGE = 'it takes `--socket PATH` or `--policy FILE`';

const [client = '', ...flags] = process.argv.slice(3);
let body = '';

/** All of standard input, or what is wrong with it. */
async function readInput(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): boolean => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= BODY_BYTES_MAX;
  };
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(0, chunk, 0, CHUNK_BYTES, null);
      if (count === 0) break;
      if (!take(chunk.subarray(0, count))) return tooLarge();
    }
  } catch (cause) {
    // Somebody has made it one that doesn't wait.
    if (!hasCode(cause, 'EAGAIN')) throw cause;
    for await (const chunk of process.stdin) {
      if (Buffer.isBuffer(chunk) && !take(chunk)) return tooLarge();
    }
  }
  body = Buffer.concat(chunks).toString();
  return body === '' ? 'its client told it nothing' : undefined;
}

function tooLarge(): string {
  return `its input is larger than ${BODY_BYTES_MAX} bytes`;
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}

interface Host {
  readonly path: string;
  /** What the host of an agent must know to find the policy. */
  readonly told?:
    | { readonly cwd?: string | undefined; readonly policy?: string | undefined }
    | undefined;
  /** Where to ask when nobody listens there; a text says why nobody can be asked. */
  readonly otherwise?: () => Promise<{ readonly socketPath: string } | string>;
}

/** Where the host listens; a text that is none says what is wrong with the command line. */
async function findHost(): Promise<Host | string> {
  const [flag, path = '', ...more] = flags;
  if (!/^[a-z0-9-]{1,64}$/.test(client)) return 'no client is named';
  if (flag === undefined) return hostOfAgent(undefined);
  if (path === '' || more.length > 0) return USAGE;
  if (flag === '--policy') return hostOfAgent(path);
  return flag === '--socket' ? { path } : USAGE;
}

/** For an agent that no `sub run` has started: the first of its hooks starts a process that decides. */
async function hostOfAgent(policy: string | undefined): Promise<Host | string> {
  const { hookHostPlace, reachHookHost } = await import('@subluminal/plane/hooks/find-host');
  const { env } = process;
  const place = hookHostPlace(env);
  if (typeof place === 'string') return place;
  const sub = process.argv[1] ?? '';
  const otherwise = () => reachHookHost(place, { sub, env, cwd: process.cwd(), policy });
  return { path: place.socketPath, told: { cwd: workingFolder(), policy }, otherwise };
}

/** Undefined when it is gone. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

function ask({ path, told, otherwise }: Host): void {
  const socket = connect(path);
  let isConnected = false;
  const chunks: Buffer[] = [];
  let bytes = 0;
  socket.on('connect', () => {
    isConnected = true;
  });
  socket.once('data', (word: Buffer) => {
    takeName(word.toString().trim());
    socket.write(`${JSON.stringify({ v: 1, client, pid: process.pid, ...told })}\n`);
    socket.end(body);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > REPLY_BYTES_MAX) refuse('the answer to it is too long');
    });
  });
  socket.on('error', (cause) => {
    if (isConnected || otherwise === undefined)
      return refuse(`the process that decides cannot be reached (${codeOf(cause)})`);
    return void otherwise().then(
      (to) => (typeof to === 'string' ? refuse(to) : ask({ path: to.socketPath, told })),
      (why: unknown) => refuse(String(why)),
    );
  });
  socket.on('end', () => {
    const answer = parsed(Buffer.concat(chunks).toString());
    if (isReply(answer)) finish(answer);
    else refuse(refusedIn(answer) ?? 'the process that decides went away without an answer');
  });
  setTimeout(() => {
    if (!HELD_EVENT.test(eventName() ?? '')) refuse('the process that decides does not answer');
  }, UNHELD_MS);
  setTimeout(() => refuse('the process that decides does not answer'), HELD_MS);
}

/** The host looks for its word in the name of this process: nobody else can put it there. */
function takeName(word: string): void {
  try {
    if (word !== '') writeFileSync('/proc/self/comm', word);
  } catch {
    // Then the host refuses.
  }
}

function codeOf(cause: Error): string {
  return 'code' in cause ? String(cause.code) : cause.message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why the host takes no notice of it. */
function refusedIn(answer: unknown): string | undefined {
  const why =
    typeof answer === 'object' && answer !== null && 'refused' in answer
      ? answer.refused
      : undefined;
  return typeof why === 'string' ? why : undefined;
}

function isReply(value: unknown): value is Reply {
  return (
    typeof value === 'object' &&
    value !== null &&
    'stdout' in value &&
    typeof value.stdout === 'string' &&
    'stderr' in value &&
    typeof value.stderr === 'string' &&
    'exitCode' in value &&
    (value.exitCode === 0 || value.exitCode === EXIT_REFUSED)
  );
}

function finish({ stdout, stderr, exitCode }: Reply): void {
  try {
    print(2, stderr);
    print(1, stdout);
    process.exit(exitCode);
  } catch {
    // Nobody has read it: it must not look like a yes.
    process.exit(EXIT_REFUSED);
  }
}

/** At once: the process ends behind it. */
function print(fd: 1 | 2, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (cause) {
      if (!hasCode(cause, 'EAGAIN')) throw cause;
    }
  }
}

let isRefusing = false;

/** In the form that the client takes for a refusal; where even that fails, as most of them do. */
function refuse(why: string): void {
  if (isRefusing) return;
  isRefusing = true;
  const reason = `Subluminal refuses this, because its hook failed: ${why.replace(/\.$/, '')}. ${FIX}`;
  const plain: Reply = { stdout: '', stderr: `${reason}\n`, exitCode: EXIT_REFUSED };
  import('@subluminal/core/hooks')
    .then(({ dialectOf }) => dialectOf(client)?.refuseUnread(eventName(), reason))
    .then(
      (reply) => finish(reply ?? plain),
      () => finish(plain),
    );
}

function eventName(): string | undefined {
  const told = parsed(body);
  const name =
    typeof told === 'object' && told !== null && 'hook_event_name' in told
      ? told.hook_event_name
      : undefined;
  return typeof name === 'string' ? name : undefined;
}

async function main(): Promise<void> {
  const wrong = await readInput();
  // While it reads, nothing but the end of the process could be done about them.
  for (const signal of SIGNALS) process.on(signal, () => refuse(`it got ${signal}`));
  const to = await findHost();
  if (typeof to === 'string') return refuse(to);
  if (wrong !== undefined) return refuse(wrong);
  return ask(to);
}

process.on('uncaughtException', (cause) => refuse(cause.message));
void main().catch((cause: unknown) => refuse(String(cause)));
