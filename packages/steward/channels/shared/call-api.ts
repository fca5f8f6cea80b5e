// Calls of JSON APIs over HTTP, and what their answers mean for a message.
import { isObject, type JsonValue } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import { isFault, readAnswerBody, type Upstream } from '@subluminal/plane/upstream';
import type { FailedSend } from './types.ts';

interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: string;
  /** Holds the credential: it is in no message. */
  readonly authorization: string;
  readonly userAgent?: string;
  readonly json?: JsonValue;
}

export type ApiAnswer =
  | { readonly kind: 'answer'; readonly json: { readonly [key: string]: unknown } }
  | FailedSend;

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 1_048_576;

export async function callApi(upstream: Upstream, call: ApiCall): Promise<ApiAnswer> {
  const { method, url, authorization, userAgent, json } = call;
  const answer = await upstream.call({
    method,
    url,
    headers: {
      ...(authorization !== '' && { authorization }),
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: [Buffer.from(JSON.stringify(json))] }),
    timeoutMs: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (isFault(answer)) return { kind: 'later', why: answer.message };
  const { status, headers } = answer;
  const body = await readAnswerBody(answer.body, ANSWER_BYTES_MAX);
  if (isFault(body)) return { kind: 'later', why: body.message };
  if (status === 429) return { kind: 'later', why: 'It limits the rate.', ...pause(headers) };
  if (status >= 500) return { kind: 'later', why: `It answers with ${status}.` };
  if (status >= 300) return { kind: 'refused', why: `It refuses (${status}).` };
  const value = parseJson(body.toString('utf8'));
  return { kind: 'answer', json: isObject(value) ? value : {} };
}

function pause(headers: { readonly 'retry-after'?: string | undefined }) {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? { afterMs: Math.ceil(seconds * 1_000) } : {};
}

/** Hostile JSON, field by field. */
export function fieldIn(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function textField(value: unknown, name: string): string {
  const field = fieldIn(value, name);
  return typeof field === 'string' ? field : '';
}

export function listField(value: unknown, name: string): readonly unknown[] {
  const field = fieldIn(value, name);
  return Array.isArray(field) ? field : [];
}
