// Answers commands and the page on a socket that is for its owner alone.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import {
  type Failure,
  isFailure,
  STEWARD_CONTROL,
  type StewardAnswers,
  type StewardInputs,
  type StewardMethod,
  tableFailure,
} from '@subluminal/contracts';
import { closeHttpServer, errorText, listenOnUnixSocket, parseJson } from '@subluminal/plane/os';
import { Callers } from './callers.ts';

/** What answers each method. A failure is told to whoever asked. */
export type ControlHandlers = {
  readonly [M in StewardMethod]: (
    input: StewardInputs[M],
    signal: AbortSignal,
  ) => Promise<StewardAnswers[M] | Failure>;
};

export interface ControlServer {
  readonly kind: 'listening';
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1_048_576;
const CONNECTIONS_MAX = 64;
const GRACE_MS = 1_000;
const PREFIX = '/v1/';
const CALLER = 'caller';
const UNKNOWN_CALLER = 401;

export async function serveControl(
  { socket, ledgerSocket }: { readonly socket: string; readonly ledgerSocket: string },
  handlers: ControlHandlers,
): Promise<ControlServer | Failure> {
  const callers = new Callers({ runDir: dirname(socket), ledgerSocket });
  const server = createServer((request, response) => {
    const left = new AbortController();
    response.on('close', () => left.abort());
    if (request.url !== `${PREFIX}${CALLER}` && !callers.isKnown(request.headers.authorization)) {
      response.writeHead(UNKNOWN_CALLER).end();
      return;
    }
    void answer({ handlers, callers }, request, left.signal)
      .catch((cause: unknown) => tableFailure('SUB_INTERNAL', `${errorText(cause)}.`))
      .then((told) => send(response, told));
  });
  server.maxConnections = CONNECTIONS_MAX;
  const listening = await listenOnUnixSocket(server, socket, { isFolderPrivate: true });
  if (listening.kind === 'taken') {
    return tableFailure('SUB_STEWARD_START', `Another process answers on ${socket}.`);
  }
  if (listening.kind === 'failed') {
    const told = tableFailure('SUB_STEWARD_START', `${socket} cannot be opened: ${listening.why}.`);
    return { ...told, fix: 'Look at what is there, and remove it if it is no socket.' };
  }
  return {
    kind: 'listening',
    close: async () => {
      await closeHttpServer(server, GRACE_MS);
      listening.unlink();
    },
  };
}

async function answer(
  { handlers, callers }: { readonly handlers: ControlHandlers; readonly callers: Callers },
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<object> {
  const name = (request.url ?? '').slice(PREFIX.length);
  const isKnown = name === CALLER || isMethod(name);
  if (request.method !== 'POST' || !request.url?.startsWith(PREFIX) || !isKnown) {
    return tableFailure('SUB_STEWARD_REQUEST', 'There is no such method.');
  }
  const text = await bodyOf(request);
  if (isFailure(text)) return text;
  if (name === CALLER) return callers.admit(parseJson(text));
  return handle(handlers, name, { value: parseJson(text), signal });
}

function isMethod(name: string): name is StewardMethod {
  return Object.hasOwn(STEWARD_CONTROL, name);
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- It ties an input to its handler.
async function handle<M extends StewardMethod>(
  handlers: ControlHandlers,
  name: M,
  { value, signal }: { readonly value: unknown; readonly signal: AbortSignal },
): Promise<object> {
  const read = STEWARD_CONTROL[name].input(value);
  if (read.ok) return handlers[name](read.value, signal);
  const [first] = read.mismatches;
  const where = first === undefined || first.path.length === 0 ? 'the body' : first.path.join('.');
  return tableFailure('SUB_STEWARD_REQUEST', `${where} does not fit.`);
}

async function bodyOf(request: IncomingMessage): Promise<string | Failure> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  });
  await once(request, 'end');
  return bytes <= BODY_BYTES_MAX
    ? Buffer.concat(chunks).toString('utf8')
    : tableFailure('SUB_STEWARD_REQUEST', 'The body is too long.');
}

function send(response: ServerResponse, told: object): void {
  const status = isFailure(told) ? 400 : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(told));
}
