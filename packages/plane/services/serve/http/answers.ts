// Answers that come from here and not from a server.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface RpcRefusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** The JSON of the id of the request. */
  readonly id?: string | undefined;
  readonly data?: unknown;
  readonly headers?: OutgoingHttpHeaders;
}

export const RPC = {
  parse: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internal: -32_603,
  unsupportedVersion: -32_022,
  /** Of this program: the request was refused before it was read, or there is no room for it. */
  refused: -31_080,
} as const;

export const DEFECT: RpcRefusal = {
  status: 500,
  code: RPC.internal,
  message: 'The request could not be handled.',
};

/** How long the rest of a body that nobody wants is taken. */
const LINGER_MS = 2_000;

export function refuse(response: ServerResponse, refusal: RpcRefusal): void {
  const { status, code, message, id = 'null', data, headers } = refusal;
  const error = JSON.stringify({ code, message, ...(data !== undefined && { data }) });
  const text = `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
  sendJson(response, text, headers === undefined ? { status } : { status, headers });
}

interface SentStatus {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
}

export function sendJson(
  response: ServerResponse,
  text: string,
  { status = 200, headers = {} }: SentStatus = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    // The rest of a body that nobody reads would be taken for the next request.
    ...(response.req.complete ? {} : { connection: 'close' }),
    ...headers,
  });
  if (response.req.complete) return void response.end(text);
  response.write(text);
  endAfterBody(response);
}

/** A connection that is closed while a body is on its way takes the answer along: its client would see only that. */
function endAfterBody(response: ServerResponse): void {
  const { req } = response;
  const timer = setTimeout(() => response.end(), LINGER_MS).unref();
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  req.once('end', end);
  req.once('close', end);
  req.resume();
}
