// What a legacy server asks of the client in the middle of a call: sampling, elicitation and roots.
import { INVALID_PARAMS, METHOD_NOT_FOUND } from './era-names.ts';
import {
  isObjectText,
  objectOf,
  stringOf,
  textAt,
  unlessEmpty,
  withMembers,
} from './object-text.ts';
import { errorJson, errorResponse, resultText } from './rpc-lines.ts';

export const ROOTS_LIST = 'roots/list';
const ELICITATION = 'elicitation/create';
/** The requests that can be made of the client, and the capabilities they need. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  [ROOTS_LIST, 'roots'],
  ['sampling/createMessage', 'sampling'],
  [ELICITATION, 'elicitation'],
]);

export function isInputMethod(method: string): boolean {
  return NEEDED.has(method);
}

/** A request of the server for input. */
export interface ServerAsk {
  /** The JSON of its id. */
  readonly id: string;
  readonly method: string;
  /** The JSON of an input request. */
  readonly json: string;
}

export function askIn(id: string, method: string, text: string): ServerAsk {
  const params = textAt(text, 'params');
  if (!isObjectText(params))
    return { id, method, json: objectOf({ method: JSON.stringify(method) }) };
  const meta = textAt(params, '_meta');
  const kept = isObjectText(meta)
    ? unlessEmpty(withMembers(meta, { progressToken: undefined }))
    : undefined;
  const changed = withMembers(params, {
    ...(meta !== undefined && { _meta: kept }),
    task: undefined,
    elicitationId: undefined,
  });
  const json = objectOf({
    method: JSON.stringify(method),
    params: method === ROOTS_LIST ? unlessEmpty(changed) : changed,
  });
  return { id, method, json };
}

/** Why a client with these capabilities can't be asked: the JSON of an error; undefined when it can. */
export function unsupported({ method, json }: ServerAsk, capabilities: string): string | undefined {
  const name = NEEDED.get(method) ?? '';
  const capability = textAt(capabilities, name);
  if (!isObjectText(capability)) {
    return errorJson(METHOD_NOT_FOUND, `The client does not support ${name} in this call.`);
  }
  if (method !== ELICITATION) return undefined;
  const mode = stringOf(textAt(json, 'params', 'mode')) ?? 'form';
  const isPlain =
    textAt(capability, 'form') === undefined && textAt(capability, 'url') === undefined;
  const isSupported = mode === 'form' && isPlain ? true : textAt(capability, mode) !== undefined;
  if (isSupported) return undefined;
  const shown = mode === 'url' ? 'url' : 'form';
  return errorJson(INVALID_PARAMS, `The client does not support elicitation in ${shown} mode.`);
}

/** The answer to a request for input that nobody answers any more. */
export function abandoned({ id, method }: ServerAsk): string {
  if (method === ELICITATION) return resultText(id, '{"action":"cancel"}');
  return errorResponse(id, errorJson(-1, 'The client did not answer: the call was given up.'));
}
