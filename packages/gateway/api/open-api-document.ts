// The OpenAPI document of the API, made of the contract.
import {
  API_ERROR,
  GATEWAY_ENDPOINTS,
  type GatewayEndpoint,
  type JsonObject,
  shapeSchema,
} from '@subluminal/contracts';

const PART = /\{(\w+)\}/g;

export function openApiDocument(version: string): JsonObject {
  const paths: { [path: string]: { [method: string]: JsonObject } } = {};
  for (const [name, endpoint] of Object.entries<GatewayEndpoint>(GATEWAY_ENDPOINTS)) {
    const operations = (paths[endpoint.path] ??= {});
    operations[endpoint.method.toLowerCase()] = operation(name, endpoint);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Subluminal gateway',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: shapeSchema(API_ERROR) },
      headers: {
        TraceId: { description: 'The trace of the request.', schema: { type: 'string' } },
      },
    },
  };
}

function operation(name: string, endpoint: GatewayEndpoint): JsonObject {
  const { summary, role, input } = endpoint;
  const needs = role === 'anyone' ? 'Needs no key.' : `Needs the role ${role} or more.`;
  return {
    operationId: name,
    summary,
    description: needs,
    ...(role === 'anyone' ? { security: [] } : {}),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
    ...(input === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(shapeSchema(input.shape)) } }),
    responses: {
      '200': {
        description: 'The answer.',
        headers: { 'X-AICG-Trace-Id': { $ref: '#/components/headers/TraceId' } },
        content: answerContent(endpoint),
      },
      default: {
        description: 'Why there is none.',
        headers: { 'X-AICG-Trace-Id': { $ref: '#/components/headers/TraceId' } },
        content: jsonContent({ $ref: '#/components/schemas/Error' }),
      },
    },
  };
}

function pathParameters({ path }: GatewayEndpoint): readonly JsonObject[] {
  return [...path.matchAll(PART)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
}

function queryParameters({ query }: GatewayEndpoint): readonly JsonObject[] {
  return Object.entries(query.shape.fields).map(([name, { required, doc, shape }]) => {
    return { name, in: 'query', required, description: doc, schema: shapeSchema(shape) };
  });
}

function answerContent({ kind, answer }: GatewayEndpoint): JsonObject {
  if (kind === 'json') return jsonContent(shapeSchema(answer));
  return { 'text/event-stream': { schema: { type: 'string' } } };
}

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}
