import { API_ERROR, GATEWAY_ENDPOINTS, isObject } from '@subluminal/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './open-api-document.ts';

const DOCUMENT = openApiDocument('1.2.3') as never as {
  openapi: string;
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: object } };
};
interface Operation {
  operationId: string;
  security?: unknown[];
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: { [type: string]: { schema: object } } };
  responses: { [status: string]: { content: { [type: string]: { schema: object } } } };
}

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function schemasIn(value: unknown): object[] {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  if (!isObject(value)) return [];
  const { schema } = value;
  const own = isObject(schema) ? [schema] : [];
  return [...own, ...Object.values(value).flatMap(schemasIn)];
}

describe('the OpenAPI document', () => {
  it('has every endpoint of the contract, once', () => {
    const found = OPERATIONS.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const wanted = Object.values(GATEWAY_ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    expect(found.toSorted()).toEqual(wanted.toSorted());
    const ids = OPERATIONS.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(DOCUMENT.openapi).toBe('3.1.0');
  });

  it('declares each part of a path', () => {
    for (const { path, operation } of OPERATIONS) {
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.filter((one) => one.in === 'path');
      expect(declared.map(({ name }) => name)).toEqual(parts);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  it('asks for a key where the contract does', () => {
    const open = OPERATIONS.filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ path }) => path).toSorted()).toEqual([
      '/api/v1/login',
      '/api/v1/logout',
      '/api/v1/lp/exchange-invite',
      '/api/v1/lp/version-check',
      '/api/v1/setup/exchange',
    ]);
  });

  it('holds schemas that a validator takes, down to unknown keywords', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false });
    const schemas = schemasIn(DOCUMENT.paths).filter((schema) => !('$ref' in schema));
    expect(schemas.length).toBeGreaterThan(50);
    for (const schema of schemas) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
    for (const schema of schemas) expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('has every reference that it makes', () => {
    const refs = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
    expect(new Set(refs)).toEqual(
      new Set(['#/components/schemas/Error', '#/components/headers/TraceId']),
    );
    expect(Object.keys(DOCUMENT.components.schemas)).toEqual(['Error']);
    expect(API_ERROR.fields.error.required).toBe(true);
  });
});
