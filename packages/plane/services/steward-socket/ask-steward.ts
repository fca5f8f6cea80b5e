// Asks a running Steward, on the socket that is for its owner alone.
import { request } from 'node:http';
import { join } from 'node:path';
import {
  ERROR_CODES,
  type Failure,
  failure,
  isObject,
  STEWARD_CONTROL,
  type StewardAnswers,
  type StewardInputs,
  type StewardMethod,
  tableFailure,
} from '@subluminal/contracts';
import { hasSystemCode, parseJson } from '../../os/index.ts';

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function controlSocket(runDir: string): string {
  return join(runDir, 'steward.sock');
}

export async function askSteward<M extends StewardMethod>(
  socket: string,
  method: M,
  {
    input,
    signal,
  }: { readonly input: StewardInputs[M]; readonly signal?: AbortSignal | undefined },
): Promise<StewardAnswers[M] | Failure> {
  const answered = await post(socket, method, { body: JSON.stringify(input), signal });
  if (typeof answered !== 'string') return answered;
  const value = parseJson(answered);
  if (isObject(value) && value['kind'] === 'failure') return toldFailure(value);
  const read = STEWARD_CONTROL[method].answer(value);
  return read.ok
    ? read.value
    : tableFailure('SUB_STEWARD_AWAY', `What answers on ${socket} is no Steward of this version.`);
}

function post(
  socketPath: string,
  method: string,
  { body, signal }: { readonly body: string; readonly signal: AbortSignal | undefined },
): Promise<string | Failure> {
  return new Promise((resolve) => {
    const away = (cause: unknown) => {
      const isGone = hasSystemCode(cause, 'ENOENT', 'ECONNREFUSED');
      resolve(tableFailure('SUB_STEWARD_AWAY', isGone ? '' : 'It closed the connection.'));
    };
    const options = { socketPath, path: `/v1/${method}`, method: 'POST', signal };
    const headers = { 'content-type': 'application/json' };
    const asked = request({ ...options, headers }, (response) => {
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

function toldFailure({ code, message, fix }: { readonly [key: string]: unknown }): Failure {
  const known = ERROR_CODES.find((one) => one === code) ?? 'SUB_STEWARD_REQUEST';
  return failure(known, String(message), String(fix));
}
