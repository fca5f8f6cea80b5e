// What an endpoint answers, as a response.
import type { Context } from 'hono';
import {
  errorBody,
  type HttpFailure,
  isHttpFailure,
  JSON_TYPE,
  NOT_FOUND,
} from './http-failure.ts';

/** JSON, a whole response, or nothing, which is 404. */
export type ApiAnswer = object | HttpFailure | Response | undefined;

export function apiResponse(context: Context, answer: ApiAnswer): Response {
  if (answer === undefined) return failureResponse(context, NOT_FOUND);
  if (answer instanceof Response) return answer;
  if (isHttpFailure(answer)) return failureResponse(context, answer);
  return context.body(JSON.stringify(answer), 200, { 'content-type': JSON_TYPE });
}

export function failureResponse(context: Context, failure: HttpFailure): Response {
  const headers = { ...failure.headers, 'content-type': JSON_TYPE };
  return context.body(errorBody(failure), failure.status, headers);
}

/** `/runs/{run_id}` as the router writes it. */
export function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
