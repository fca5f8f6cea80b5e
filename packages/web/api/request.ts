// One request to the server of the page, and what it answers.
import { PAGE_TOKEN_HEADER } from '@subluminal/contracts';
import { pageToken } from './page-token.ts';

/** Why there is no answer, in the words of the server. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string;

  constructor(status: number, { code, message, fix }: FailureFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.fix = fix;
  }
}

interface FailureFields {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export async function send(target: string, request: ApiRequest = {}): Promise<Response> {
  const { method = 'GET', body, signal } = request;
  const headers: Record<string, string> = { [PAGE_TOKEN_HEADER]: pageToken() };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  let response: Response;
  try {
    response = await fetch(target, { ...init, ...(signal && { signal }) });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiFailure(0, {
      code: '',
      message: 'The server does not answer.',
      fix: 'Is it still running? Start it again with `sub ui`.',
    });
  }
  if (!response.ok) throw new ApiFailure(response.status, await failureFields(response));
  return response;
}

async function failureFields(response: Response): Promise<FailureFields> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : {};
  return {
    code: '',
    message: `The server answered with ${response.status}.`,
    fix: '',
    ...(typeof error === 'object' && error),
  };
}

/** What an address means by these is another address, however they are spelled. */
const DOTS = new Set(['.', '..']);

/** A path of the table with its ids and parameters filled in; a list gives a parameter several times. */
export function targetOf(
  path: string,
  ids: Readonly<Record<string, string>>,
  query: readonly (readonly [name: string, value: unknown])[],
): string {
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name] ?? '';
    if (!DOTS.has(id)) return encodeURIComponent(id);
    const message = 'An id that is nothing but dots cannot be asked for by a page.';
    throw new ApiFailure(404, {
      code: '',
      message,
      fix: 'Look at it with `sub query` and `sub show`.',
    });
  });
  const pairs = query.flatMap(([name, value]) => {
    if (value === undefined || value === '') return [];
    return (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)]);
  });
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? place : `${place}?${text}`;
}
