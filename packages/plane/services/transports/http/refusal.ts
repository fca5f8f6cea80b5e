// Why a request got no answer, as the JSON-RPC error that its sender gets instead.
import type { Failure } from '@subluminal/contracts';
import { memberText } from '@subluminal/core/json';
import { visible } from '@subluminal/core/visible';
import type { UpstreamFault } from '../../../os/upstream/index.ts';

export interface HttpRefusal {
  /** What happened and what to do, in words. */
  readonly text: string;
  readonly status?: number;
  /** The server's own JSON-RPC error: the value of `error` as it was written. */
  readonly error?: string;
  /** Its code. */
  readonly code?: number | undefined;
}

/** The one code that JSON-RPC has for it, in both eras. */
const INTERNAL_ERROR = -32603;
const SHOWN_LENGTH_MAX = 200;

/** The answer to a request that failed; `id` is the JSON of its id. */
export function refusalLine(id: string, { error, text, status }: HttpRefusal): Buffer {
  const data = status === undefined ? {} : { data: { http_status: status } };
  const own = JSON.stringify({ code: INTERNAL_ERROR, message: text, ...data });
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error ?? own}}\n`);
}

const CHECKS = {
  unreachable: 'check that it runs, its URL, the network, and a proxy that is set',
  untrusted: 'check its certificate; NODE_EXTRA_CA_CERTS can name a file with its authority',
};

export function ofFault(server: string, { message, unsent }: UpstreamFault): HttpRefusal {
  if (unsent !== undefined) {
    return {
      text: `The MCP server \`${server}\` cannot be reached. ${message} Nothing was sent: its user must ${CHECKS[unsent]}.`,
    };
  }
  return {
    text: `The MCP server \`${server}\` does not answer. ${message} If the request has reached it, it may have been executed, so it is not sent again.`,
  };
}

/** What the server answered where a failure of authorization says what to do. */
const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['SUB_AUTH_REQUIRED', 401],
  ['SUB_AUTH_SCOPE', 403],
  ['SUB_AUTH_REFUSED', 403],
]);

export function ofFailure({ code, message, fix }: Failure): HttpRefusal {
  const status = STATUS_OF.get(code);
  return {
    ...(status !== undefined && { status }),
    text: `${message.slice(0, 1).toUpperCase()}${message.slice(1)} This is for its user: ${fix}`,
  };
}

export function ofCut(server: string, fault: UpstreamFault | undefined): HttpRefusal {
  const why = fault?.message ?? 'Its stream ended.';
  return {
    text: `The MCP server \`${server}\` broke off before it answered. ${why} It may have executed the request, so it is not sent again.`,
  };
}

export interface RefusedAnswer {
  readonly server: string;
  readonly status: number;
  readonly body: Uint8Array;
  /** The requests had a token of the user's settings. */
  readonly hasToken: boolean;
  readonly location: string | undefined;
}

export function ofStatus(answer: RefusedAnswer): HttpRefusal {
  const { status, body } = answer;
  const own = rpcError(body);
  return { text: `${wordsFor(answer)} (HTTP ${status}).`, status, ...own };
}

/** The error of a body that is a JSON-RPC error, whether or not it names the request. */
function rpcError(body: Uint8Array): Pick<HttpRefusal, 'error' | 'code'> {
  const text = Buffer.from(body).toString();
  if (memberText(text, 'jsonrpc') !== '"2.0"') return {};
  const error = memberText(text, 'error');
  const code = Number(error === undefined ? Number.NaN : memberText(error, 'code'));
  if (error === undefined || !Number.isSafeInteger(code)) return {};
  if (memberText(error, 'message')?.startsWith('"') !== true) return {};
  return { error: error.replace(/[\r\n]/g, ' '), code };
}

function wordsFor({ server, status, hasToken, location }: RefusedAnswer): string {
  const name = `The MCP server \`${server}\``;
  switch (status) {
    case 401:
      return hasToken
        ? `${name} refuses the token that it was given: its user must renew it`
        : `${name} needs authorization: its user must run \`sub auth login ${server}\``;
    case 403:
      return `${name} forbids this request: its user may lack a right there`;
    case 404:
    case 405:
      return `There is no MCP server at the address of \`${server}\`: its user must correct the URL`;
    case 413:
      return `The request is too large for the MCP server \`${server}\``;
    case 429:
      return `${name} gets too many requests: wait, then try again`;
    default:
      if (status >= 300 && status < 400) return `${name} has moved${movedTo(location)}`;
      if (status >= 500) return `${name} has failed: try again later`;
      return `${name} refuses the request`;
  }
}

function movedTo(location: string | undefined): string {
  const there = location === undefined ? '' : ` to ${visible(location, SHOWN_LENGTH_MAX)}`;
  return `${there}, and redirects to other origins are not followed: its user must correct the URL`;
}
