// The list of models as the provider has it, for a client whose turns go to one provider.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFault, readAnswerBody, type Upstream } from '@subluminal/plane/upstream';
import { answerHeaders } from './answer-headers.ts';
import { ClientAnswer } from './client-answer.ts';
import type { TurnRoute } from './engine.ts';
import { TURN_LIMITS } from './limits.ts';
import type { Attempt } from './types.ts';
import { queryOf, upstreamHeaders, upstreamUrl } from './upstream-request.ts';
import type { TurnWires } from './wires.ts';

export interface ModelsRoute extends Pick<TurnRoute, 'wire' | 'path'> {
  readonly upstream: Upstream;
  readonly wires: TurnWires;
  readonly attempt: Attempt;
}

export async function forwardModels(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, wires, attempt, wire, path }: ModelsRoute,
): Promise<void> {
  const client = new ClientAnswer(response, Date.now);
  request.resume();
  const answer = await upstream.call({
    method: 'GET',
    url: upstreamUrl(attempt, { kind: 'models', wire, query: queryOf(path) }),
    headers: { accept: 'application/json', ...upstreamHeaders(attempt, request.headers) },
    timeoutMs: attempt.timeoutMs,
    signal: client.gone,
  });
  const body = isFault(answer)
    ? answer
    : await readAnswerBody(answer.body, TURN_LIMITS.answerBytesMax);
  if (!isFault(answer) && !isFault(body)) {
    const type = answer.headers['content-type'] ?? 'application/json';
    const headers = answerHeaders(answer.headers, attempt);
    return client.answer(body, answer.status, headers, { 'content-type': type });
  }
  const message = isFault(body) ? body.message : '';
  const error = wires.wire(wire).writeError({ status: 502, type: 'api_error', message });
  client.answer(JSON.stringify(error), 502, { 'content-type': 'application/json' });
}
