// One request on the socket of Steward, and the text of its answer.
import { request } from 'node:http';
import { ERROR_CODES, type Failure, failure, tableFailure } from '@subluminal/contracts';
import { hasSystemCode } from '../../os/index.ts';

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export interface SocketRequest {
  readonly body: string;
  readonly token?: string;
  readonly signal?: AbortSignal | undefined;
}

/** It has to be shown which process asks. */
export const UNKNOWN_CALLER = Symbol('unknown caller');

export function postToSteward(
  socketPath: string,
  method: string,
  { body, token, signal }: SocketRequest,
): Promise<string | Failure | typeof UNKNOWN_CALLER> {
  return new Promise((resolve) => {
    const away = (cause: unknown) => {
      const isGone = hasSystemCode(cause, 'ENOENT', 'ECONNREFUSED');
      resolve(tableFailure('SUB_STEWARD_AWAY', isGone ? '' : 'It closed the connection.'));
    };
    const options = { socketPath, path: `/v1/${method}`, method: 'POST', signal };
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const asked = request({ ...options, headers }, (response) => {
      if (response.statusCode === 401) {
        response.resume();
        resolve(UNKNOWN_CALLER);
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) response.destroy();
        else chunks.push(chunk);
      });
      response.on('error', away);
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    asked.on('error', away);
    asked.end(body);
  });
}

export function readFailure({ code, message, fix }: { readonly [key: string]: unknown }): Failure {
  const known = ERROR_CODES.find((one) => one === code) ?? 'SUB_STEWARD_REQUEST';
  return failure(known, String(message), String(fix));
}
