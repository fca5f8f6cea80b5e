// Reads that hold nothing of the conversation, such as the list of models: they go on as they came.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFault, type Upstream } from '@subluminal/plane/upstream';
import { sendError } from '../listen/agent-server.ts';
import { ownHeaders, routeOf, type Upstreams, upstreamUrl } from './upstreams.ts';

const TIMEOUT_MS = 30_000;

interface PassedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
}

/** Never rejects. */
export async function passThrough(
  { request, response, path }: PassedRequest,
  { upstream, upstreams }: { readonly upstream: Upstream; readonly upstreams: Upstreams },
): Promise<void> {
  const route = routeOf(path);
  if (route === undefined) return sendError(response, 404, 'This path leads to no model.');
  // A client asks whether anybody is there. Somebody is, whatever the provider says.
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'content-length': 0 }).end();
    return;
  }
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { headers } = request;
  const given = await upstream.call({
    method: 'GET',
    url: upstreamUrl(upstreams, { route, path, headers }),
    headers: ownHeaders(headers),
    timeoutMs: TIMEOUT_MS,
    signal: gone.signal,
  });
  if (isFault(given)) {
    if (!response.destroyed) sendError(response, 502, given.message);
    return;
  }
  const type = given.headers['content-type'];
  response.writeHead(given.status, type === undefined ? {} : { 'content-type': type });
  const { body } = given;
  body.read({
    onPart: (bytes) => {
      if (response.write(bytes) || body.isPaused) return;
      body.pause();
      response.once('drain', () => body.resume());
    },
    // A client that goes away, or an upstream that breaks off, ends both.
    onEnd: (fault) => {
      if (fault === undefined) response.end();
      else response.destroy();
    },
  });
}
