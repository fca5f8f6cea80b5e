import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { BUNDLE } from '../bundle.ts';
import { parseDecision, parseErrorData } from '../decision/decision.ts';
import { parseEvent } from '../events/parse.ts';
import { EVENT } from '../events/types.ts';
import { HUB_ENDPOINTS } from '../hub.ts';
import { schemaFiles, schemaText } from '../schema-files.ts';
import { arbitraryOf } from '../testing/arbitrary.ts';
import { DAMAGES, damaged } from '../testing/damages.ts';
import { SAMPLES, type SchemaName, sampleOf } from '../testing/samples.ts';
import { check } from './check.ts';
import type { Shape } from './shape.ts';

const FOLDER = fileURLToPath(new URL('../schemas/', import.meta.url));

const ajv = new Ajv2020({ allErrors: false, strict: true, allowUnionTypes: true });
const SCHEMAS = schemaFiles();

const ACCEPTS: { readonly [S in SchemaName]: (value: unknown) => boolean } = {
  event: (value) => parseEvent(value).ok,
  bundle: (value) => check(BUNDLE, value).length === 0,
  decision: (value) => parseDecision(value).ok,
  'error-data': (value) => parseErrorData(value).ok,
};

function idOf(name: string): string {
  return `https://subluminal.dev/schemas/0.2.0/${name}.schema.json`;
}

function validator(name: SchemaName): ValidateFunction {
  const schema = SCHEMAS[`${name}.schema.json`];
  if (schema === undefined) throw new Error(`There is no schema ${name}.`);
  return ajv.getSchema(idOf(name)) ?? ajv.compile(schema);
}

describe('the published schemas', () => {
  it('are on disk as the contracts say, and nothing else is', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(SCHEMAS).toSorted());
    const stale = Object.entries(SCHEMAS)
      .filter(([file, schema]) => readFileSync(`${FOLDER}${file}`, 'utf8') !== schemaText(schema))
      .map(([file]) => `${file} is stale: run \`npm run schemas\``);
    expect(stale).toEqual([]);
  });

  it('describe every field and close what the contracts close', () => {
    const bundle = SCHEMAS['bundle.schema.json'];
    expect(bundle).toMatchObject({
      $id: 'https://subluminal.dev/schemas/0.2.0/bundle.schema.json',
      additionalProperties: false,
      properties: { policy_id: { description: 'A stable identifier.', type: 'string' } },
    });
    expect(SCHEMAS['event.schema.json']).not.toHaveProperty('additionalProperties');
  });
});

describe('parser and schema', () => {
  it.each(SAMPLES.map((sample) => [sample.name, sample] as const))('accept %s', (_, sample) => {
    const validate = validator(sample.schema);
    expect({ schema: validate(sample.value), errors: validate.errors }).toEqual({
      schema: true,
      errors: null,
    });
    expect(ACCEPTS[sample.schema](sample.value)).toBe(true);
  });

  const damages = DAMAGES.map(
    (damage) =>
      [damage.sample, damage.path, JSON.stringify(damage.value)?.slice(0, 20), damage] as const,
  );
  it.each(damages)('reject %s with %s = %s', (name, _path, _value, damage) => {
    const { schema, value } = sampleOf(name);
    const broken = damaged(value, damage);
    expect(ACCEPTS[schema](broken)).toBe(false);
    expect(validator(schema)(broken)).toBe(false);
  });

  it('agree on any event, whole or damaged', () => {
    const validate = validator('event');
    const oddValue = fc.constantFrom(
      ...[undefined, null, '', 'nope', 'ALLOW', 'THROTTLE', -1, 0, 1.5, 2 ** 53, true, [], {}],
    );
    const property = fc.property(
      arbitraryOf(EVENT),
      fc.array(fc.nat(7), { maxLength: 4 }),
      oddValue,
      (event, steps, odd) => {
        const whole: unknown = JSON.parse(JSON.stringify(event));
        expect([parseEvent(whole).ok, validate(whole)]).toEqual([true, true]);
        const broken = damageAt(whole, steps, odd);
        expect(validate(broken)).toBe(parseEvent(broken).ok);
      },
    );
    fc.assert(property, runs(500));
  });

  it('agree on the messages of the hub', () => {
    ajv.addSchema(SCHEMAS['hub.schema.json'] ?? {});
    const messages: readonly [string, Shape][] = [
      ['EvaluateRequest', HUB_ENDPOINTS.evaluate.request],
      ['EvaluateResponse', HUB_ENDPOINTS.evaluate.response],
      ['TaskResponse', HUB_ENDPOINTS.task.response],
      ['HeartbeatRequest', HUB_ENDPOINTS.heartbeat.request],
      ['HeartbeatResponse', HUB_ENDPOINTS.heartbeat.response],
      ['HealthResponse', HUB_ENDPOINTS.health.response],
    ];
    for (const [name, shape] of messages) {
      const validate = ajv.getSchema(`${idOf('hub')}#/$defs/${name}`);
      if (validate === undefined) throw new Error(`There is no definition ${name}.`);
      const steps = fc.array(fc.nat(7), { maxLength: 3 });
      const odd = fc.constantFrom(undefined, null, '', -1, 1.5, true, {}, 'pending_approval');
      const property = fc.property(arbitraryOf(shape), steps, odd, (message, path, value) => {
        const broken = damageAt(JSON.parse(JSON.stringify(message)), path, value);
        expect(validate(broken)).toBe(check(shape, broken).length === 0);
      });
      fc.assert(property, runs(100));
    }
  });
});

/** Walks into a value by the given steps and puts the odd value there, or removes what is there. */
function damageAt(value: unknown, steps: readonly number[], odd: unknown): unknown {
  if (typeof value !== 'object' || value === null) return odd ?? null;
  const keys = Object.keys(value);
  const key = keys[(steps[0] ?? 0) % Math.max(keys.length, 1)];
  if (key === undefined) return odd ?? null;
  const holder = value as Record<string, unknown>;
  if (steps.length > 1) holder[key] = damageAt(holder[key], steps.slice(1), odd);
  else if (odd === undefined && !Array.isArray(value)) delete holder[key];
  else holder[key] = odd ?? null;
  return value;
}
