// The lines that a session writes itself, such as answers to messages that are not forwarded.

import type { Era } from '@subluminal/contracts';
import type { Context } from './context.ts';
import type { MessageId } from './peek/types.ts';

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly [key: string]: unknown };
}

export function errorLine(id: MessageId, error: ErrorBody): string {
  return `{"jsonrpc":"2.0","id":${id.json},"error":${JSON.stringify(error)}}\n`;
}

/** An answer to a tool call as a failed result, which the model gets to see. */
export function resultLine(
  id: MessageId,
  { text, era, meta }: { readonly text: string; readonly era: Era; readonly meta: unknown },
): string {
  const result = {
    ...(era === 'modern' && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    // Not `structuredContent`: clients check that against the output schema of the tool.
    _meta: meta,
  };
  return `{"jsonrpc":"2.0","id":${id.json},"result":${JSON.stringify(result)}}\n`;
}

export function progressLine(token: string, progress: number): string {
  const message = '"Waiting for a person to approve this call."';
  const params = `{"progressToken":${token},"progress":${progress},"message":${message}}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n`;
}

/** A sentence for people: why the server does not answer. */
export function exitWords({ config, exit, redact }: Context): string {
  const server = `The MCP server \`${config.serverName}\``;
  if (exit === undefined) return `${server} does not answer.`;
  const { started, code, signal, message } = exit;
  if (!started) {
    const why = message === undefined ? '.' : `: ${message}`;
    return redact(`${server} could not be started${why}`);
  }
  if (typeof signal === 'string') return `${server} was ended by ${signal}.`;
  return typeof code === 'number' ? `${server} exited with code ${code}.` : `${server} has exited.`;
}
