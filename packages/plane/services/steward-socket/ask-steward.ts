// Asks a running Steward, on the socket that is for its owner alone.
import { join } from 'node:path';
import {
  type Failure,
  isObject,
  STEWARD_CONTROL,
  type StewardAnswers,
  type StewardInputs,
  type StewardMethod,
  tableFailure,
} from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import {
  postToSteward,
  readFailure,
  type SocketRequest,
  UNKNOWN_CALLER,
} from './post-to-steward.ts';
import { callerToken, forgetCaller } from './show-caller.ts';

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
  const answered = await postAsCaller(socket, method, { body: JSON.stringify(input), signal });
  if (typeof answered !== 'string') return answered;
  const value = parseJson(answered);
  if (isObject(value) && value['kind'] === 'failure') return readFailure(value);
  const read = STEWARD_CONTROL[method].answer(value);
  return read.ok
    ? read.value
    : tableFailure('SUB_STEWARD_AWAY', `What answers on ${socket} is no Steward of this version.`);
}

/** Once more where Steward has started anew and knows nobody. */
async function postAsCaller(
  socket: string,
  method: string,
  request: Omit<SocketRequest, 'token'>,
): Promise<string | Failure> {
  for (let tries = 0; tries < 2; tries += 1) {
    const token = await callerToken(socket);
    if (typeof token !== 'string') return token;
    const answered = await postToSteward(socket, method, { ...request, token });
    if (answered !== UNKNOWN_CALLER) return answered;
    forgetCaller(socket);
  }
  return tableFailure('SUB_STEWARD_AWAY', 'It does not know who asks.');
}
