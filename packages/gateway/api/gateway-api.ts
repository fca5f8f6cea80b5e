// The API of the gateway as a listener of requests: the server around it has TLS, and sends everything else to the
// turn engine.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { failureResponse } from '@subluminal/plane/api/http-answer';
import {
  type HttpFailure,
  httpFailure,
  isHttpFailure,
  JSON_TYPE,
  NOT_FOUND,
  SECURITY_HEADERS,
  sendFailure,
} from '@subluminal/plane/api/http-failure';
import { pathFailure } from '@subluminal/plane/api/read-request';
import { clientAddress, isAllowedAddress, requestKey } from '../auth/index.ts';
import { addApprovalRoutes } from './approval-routes.ts';
import { addConfigRoutes } from './config-routes.ts';
import { openApiDocument } from './open-api-document.ts';
import { addPeopleRoutes } from './people-routes.ts';
import { addRecordRoutes } from './record-routes.ts';
import { type ApiContext, inOurWords, Routes } from './routes.ts';
import { hasRole } from './scope.ts';
import { addSessionRoutes } from './session-routes.ts';
import type { GatewayApiOptions } from './types.ts';

export interface GatewayApi {
  /** Whether a path belongs to the API. */
  owns(path: string): boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Answers with a file of the page; false when there is no page, or the path is not for it. */
  handlePage(request: IncomingMessage, response: ServerResponse): boolean;
  /** Ends the streams. */
  close(): Promise<void>;
}

const TRACE_HEADER = 'x-aicg-trace-id';
const PATHS = /^\/(?:api\/v1|sse\/v1)\/|^\/metrics$/;
/** What a client of a model may ask for by mistake: it is told so, and gets no page. */
const NOT_OF_THE_PAGE = /^\/(?:v\d\w*|anthropic|openai|api|sse|metrics)(?:\/|$)/;

export function createGatewayApi(options: GatewayApiOptions): GatewayApi {
  const routes = new Routes(options);
  const { app } = routes;
  app.use(async (context, next) => {
    context.set('traceId', context.env.outgoing.getHeader(TRACE_HEADER)?.toString() ?? '');
    await next();
  });
  addSessionRoutes(routes, options);
  addPeopleRoutes(routes, options);
  addRecordRoutes(routes, options);
  const streams = addApprovalRoutes(routes, options);
  addConfigRoutes(routes, options);
  const document = JSON.stringify(openApiDocument(options.version));
  app.get('/api/v1/openapi.json', (context) =>
    context.body(document, 200, { 'content-type': JSON_TYPE }),
  );
  app.get('/metrics', (context) => answerMetrics(routes, options, context));
  routes.addMethodRefusals();
  // It would put its own Request and Response in place of the process's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return {
    owns: (path) => PATHS.test(path),
    handle: (request, response) => {
      response.setHeader(TRACE_HEADER, options.newId());
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
      const failure = edgeFailure(request, options);
      if (failure !== undefined) return sendFailure(response, inOurWords(failure));
      void answer(request, response);
    },
    handlePage: (request, response) => {
      const { pages } = options;
      const isAsked = request.method === 'GET' || request.method === 'HEAD';
      if (pages === undefined || !isAsked || NOT_OF_THE_PAGE.test(pathOf(request))) return false;
      const failure = edgeFailure(request, options);
      if (failure === undefined) void pages.answer(request, response);
      else sendFailure(response, inOurWords(failure));
      return true;
    },
    close: () => streams.close(),
  };
}

/** Where the request comes from, what it was meant for, and whether a page of another site has sent it. */
function edgeFailure(
  request: IncomingMessage,
  { addresses }: GatewayApiOptions,
): HttpFailure | undefined {
  if (!isAllowedAddress(clientAddress(request, addresses), addresses)) {
    return httpFailure(403, 'SUB_GATEWAY_ADDRESS');
  }
  const host = request.headers.host?.toLowerCase();
  if (host === undefined) {
    return httpFailure(403, 'SUB_API_HOST', 'See the header Host.');
  }
  const { origin } = request.headers;
  if (origin !== undefined && origin !== `https://${host}` && origin !== `http://${host}`) {
    return httpFailure(403, 'SUB_API_HOST', 'See the header Origin.');
  }
  return pathFailure(pathOf(request));
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** A scraper has a token of its own; a platform admin may look, too. */
async function answerMetrics(
  routes: Routes,
  { metrics, addresses }: GatewayApiOptions,
  context: ApiContext,
): Promise<Response> {
  if (metrics === undefined) return failureResponse(context, NOT_FOUND);
  const { incoming } = context.env;
  const token = requestKey(incoming);
  if (token === undefined || !metrics.isScraper(token)) {
    const caller = await routes.callerOf(token, clientAddress(incoming, addresses));
    if (isHttpFailure(caller)) return failureResponse(context, caller);
    if (!hasRole(caller, 'platform_admin')) {
      return failureResponse(context, httpFailure(403, 'SUB_GATEWAY_ROLE'));
    }
  }
  return context.body(await metrics.text(), 200, { 'content-type': metrics.contentType });
}
