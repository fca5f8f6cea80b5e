// The lines that we write ourselves: answers to what is not forwarded.

import {
  type Decision,
  type Era,
  type PolicyRef,
  type RefusedCall,
  refusal,
  type SnapshotDocument,
} from '@subluminal/contracts';
import type { Context } from './context.ts';
import type { MessageId } from './peek/types.ts';

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

interface RefusedBy {
  readonly id: MessageId;
  readonly decision: Decision;
  readonly call: RefusedCall;
  readonly policy: PolicyRef;
  readonly era: Era;
  readonly delivery: SnapshotDocument['hint_delivery'];
  /** Takes the place of contract C's code: the call was not even well formed. */
  readonly code?: number;
}

interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly [key: string]: unknown };
}

export function errorLine(id: MessageId, error: ErrorBody): string {
  return `{"jsonrpc":"2.0","id":${id.json},"error":${JSON.stringify(error)}}\n`;
}

/** The answer to a refused call: an error, or a result that the model gets to see. */
export function refusalLine(refused: RefusedBy): string {
  const { id, decision, call, policy, era, delivery, code } = refused;
  const error = refusal({ decision, call, policy, era });
  if (delivery !== 'tool_result' || code !== undefined) {
    return errorLine(id, code === undefined ? error : { ...error, code });
  }
  return resultLine(id, { text: error.message, era, meta: error.data });
}

/** An answer to a tool's call that the model gets to see, and takes for a failure. */
export function resultLine(
  id: MessageId,
  { text, era, meta }: { readonly text: string; readonly era: Era; readonly meta: unknown },
): string {
  const result = {
    ...(era === 'modern' && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    // Not `structuredContent`: clients hold that against the tool's own output schema.
    _meta: meta,
  };
  return `{"jsonrpc":"2.0","id":${id.json},"result":${JSON.stringify(result)}}\n`;
}

export function progressLine(token: string, progress: number): string {
  const message = '"Waiting for a person to approve this call."';
  const params = `{"progressToken":${token},"progress":${progress},"message":${message}}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n`;
}

/** Why the server does not answer, for people. */
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
