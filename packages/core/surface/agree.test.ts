// The list and the call are judged by the same limits: what fits the schema that an agent was shown
// is not refused for its parameters.

import type { JsonObject } from '@subluminal/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { enforceCall } from './enforce.ts';
import { manifestOf } from './gmail.test-support.ts';
import { filterTools } from './list.ts';
import type { Manifest } from './manifest/types.ts';
import { initialSurfaceState } from './state.ts';

const NAMES = ['to', 'bcc', 'BCC', 'n', 'mode', 'message', 'text'] as const;

type Part =
  | { readonly kind: 'text' | 'number' | 'optional' | 'free' }
  | { readonly kind: 'ref'; readonly to: 0 | 1 }
  | { readonly kind: 'list'; readonly item: Part }
  | { readonly kind: 'either' | 'both'; readonly parts: readonly Part[] }
  | {
      readonly kind: 'object';
      readonly members: { readonly [name: string]: Part };
      readonly closed: boolean;
    };

const leaf: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Part>({ kind: 'text' }) },
  { weight: 4, arbitrary: fc.constant<Part>({ kind: 'number' }) },
  { weight: 2, arbitrary: fc.constant<Part>({ kind: 'optional' }) },
  { weight: 1, arbitrary: fc.constant<Part>({ kind: 'free' }) },
  { weight: 2, arbitrary: fc.constantFrom<Part>({ kind: 'ref', to: 0 }, { kind: 'ref', to: 1 }) },
);

function partOf(depth: number): fc.Arbitrary<Part> {
  if (depth === 0) return leaf;
  const inner = partOf(depth - 1);
  const parts = fc.array(inner, { minLength: 1, maxLength: 2 });
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: inner.map((item): Part => ({ kind: 'list', item })) },
    { weight: 2, arbitrary: parts.map((some): Part => ({ kind: 'either', parts: some })) },
    { weight: 1, arbitrary: parts.map((some): Part => ({ kind: 'both', parts: some })) },
    { weight: 4, arbitrary: objectOf(depth) },
  );
}

function objectOf(depth: number): fc.Arbitrary<Part> {
  const members = fc.dictionary(fc.constantFrom(...NAMES), partOf(depth - 1), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  return fc
    .record({ members, closed: fc.boolean() })
    .map(({ members: named, closed }): Part => ({ kind: 'object', members: named, closed }));
}

function schemaOf(part: Part): JsonObject {
  switch (part.kind) {
    case 'text':
      return { type: 'string' };
    case 'number':
      return { type: 'integer', maximum: 80 };
    case 'optional':
      return { anyOf: [{ type: 'number' }, { type: 'null' }] };
    case 'free':
      return {};
    case 'ref':
      return { $ref: `#/$defs/d${part.to}` };
    case 'list':
      return { type: 'array', items: schemaOf(part.item) };
    case 'either':
      return { anyOf: part.parts.map(schemaOf) };
    case 'both':
      return { allOf: part.parts.map(schemaOf) };
    case 'object': {
      const properties = Object.fromEntries(
        Object.entries(part.members).map(([name, member]) => [name, schemaOf(member)]),
      );
      return { type: 'object', properties, ...(part.closed && { additionalProperties: false }) };
    }
  }
}

type Parts = readonly [Part, Part];
type Json = JsonObject[string];

const address = fc.constantFrom('a@x', 'a@x,b@x,c@x', 'red', 'x'.repeat(12), '');

/** Values that often fit a part, and at times have a member too many. */
function valueOf(part: Part, defs: Parts, depth: number): fc.Arbitrary<Json> {
  const scalar: fc.Arbitrary<Json> = fc.oneof(
    address,
    fc.integer({ min: -5, max: 90 }),
    fc.constant(null),
  );
  if (depth === 0) return scalar;
  const inner = (other: Part) => valueOf(other, defs, depth - 1);
  switch (part.kind) {
    case 'text':
      return address;
    case 'number':
      return fc.integer({ min: -5, max: 90 });
    case 'optional':
      return fc.option(fc.integer({ min: -5, max: 90 }), { nil: null });
    case 'free':
      return fc.oneof(
        scalar,
        fc.dictionary(fc.constantFrom(...NAMES), scalar, { noNullPrototype: true }),
      );
    case 'ref':
      return inner(defs[part.to]);
    case 'list':
      return fc.array(inner(part.item), { maxLength: 4 });
    case 'either':
      return fc.oneof(...part.parts.map(inner));
    case 'both':
      return inner(part.parts[0] ?? { kind: 'text' });
    case 'object': {
      const members = Object.entries(part.members).map(([name, member]) =>
        fc.option(
          inner(member).map((value): readonly [string, Json][] => [[name, value]]),
          {
            nil: [],
          },
        ),
      );
      const known = fc
        .tuple(...members)
        .map((entries): { [name: string]: Json } => Object.fromEntries(entries.flat()));
      const extra = fc.dictionary(fc.constantFrom(...NAMES), scalar, {
        maxKeys: 1,
        noNullPrototype: true,
      });
      return fc.oneof(
        { weight: 5, arbitrary: known },
        { weight: 1, arbitrary: fc.tuple(known, extra).map(([a, b]) => ({ ...b, ...a })) },
      );
    }
  }
}

const LIMITS = [
  'blocked_params: [{ pattern: "*.bcc" }]\n',
  'blocked_params: [{ pattern: "t.message.*" }]\n',
  'schema_rewrites: { t: { strip_params: [mode, .message.to] } }\n',
  'schema_rewrites: { t: { constrain_params: { n: { maximum: 50, minimum: 0 } } } }\n',
  'schema_rewrites: { "*": { constrain_params: { to: { max_recipients: 2 }, message.n: { maximum: 9 } } } }\n',
  'schema_rewrites: { t: { constrain_params: { text: { max_length: 5 }, mode: { enum: [red, 7] } } } }\n',
  'schema_rewrites: { t: { constrain_params: { text: { pattern: "^[a-z@]*$" }, to: { max_items: 1 } } } }\n',
  'blocked_params: [{ pattern: bcc }]\nschema_rewrites: { t: { strip_params: [to], constrain_params: { n: { maximum: 3 } } } }\n',
];

const PARAM_REASONS = new Set<string>(['PARAM_BLOCKED', 'PARAM_STRIPPED', 'PARAM_LIMIT']);

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  inlineRefs: false,
  addUsedSchema: false,
});

/** A call to a tool with this schema: what the agent was shown, and what was decided. */
function tried(manifest: Manifest, schema: JsonObject, args: JsonObject) {
  const { result, notes } = filterTools({ tools: [{ name: 't', inputSchema: schema }] }, manifest, {
    era: 'legacy',
  });
  const [tool] = result['tools'] as readonly { readonly inputSchema: JsonObject }[];
  if (tool === undefined) throw new Error('the tool is not shown');
  const { decision } = enforceCall(
    manifest,
    { tool: 't', args },
    { state: initialSurfaceState(), nowMs: 0 },
  );
  const kinds = new Set(notes.map(({ kind }) => kind));
  return {
    decision,
    isRefused: decision.kind === 'refuse' && PARAM_REASONS.has(decision.reason_code),
    isValid: () => fits(tool.inputSchema, args),
    isSaid: !kinds.has('open') && !kinds.has('unsaid'),
  };
}

const scenario = fc
  .record({
    root: objectOf(3),
    defs: fc.tuple(partOf(1), partOf(2)),
    limits: fc.nat(LIMITS.length - 1),
  })
  .chain(({ root, defs, limits }) =>
    valueOf(root, defs, 5).map((args) => {
      const schema = { ...schemaOf(root), $defs: { d0: schemaOf(defs[0]), d1: schemaOf(defs[1]) } };
      return { schema, args: args as JsonObject, limits };
    }),
  );

/** Definitions that only lead to each other describe nothing, and no validator comes to an end. */
function fits(schema: JsonObject, args: JsonObject): boolean {
  try {
    return ajv.compile(schema)(args);
  } catch (cause) {
    if (cause instanceof RangeError) return false;
    throw cause;
  }
}

describe('the list and the call', () => {
  it('agree: what fits the schema shown is not refused for its parameters', async () => {
    verifies('ST-8.9', 'ST-8.10.1');
    const manifests = await Promise.all(
      LIMITS.map((limits) => manifestOf(`server: s\nallowed_tools: [{ name: t }]\n${limits}`)),
    );
    const seen = { fits: 0, refused: 0 };
    fc.assert(
      fc.property(scenario, ({ schema, args, limits }) => {
        const manifest = manifests[limits];
        if (manifest === undefined) throw new Error('no such manifest');
        const { isRefused, isValid, isSaid } = tried(manifest, schema, args);
        if (isRefused) seen.refused++;
        if (!isSaid || !isValid()) return;
        seen.fits++;
        expect(isRefused).toBe(false);
      }),
      { numRuns: 500 },
    );
    expect(seen.fits).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });

  it('agree on the corrected arguments that a refusal suggests', async () => {
    const manifests = await Promise.all(
      LIMITS.map((limits) => manifestOf(`server: s\nallowed_tools: [{ name: t }]\n${limits}`)),
    );
    let suggested = 0;
    fc.assert(
      fc.property(scenario, ({ args, limits }) => {
        const manifest = manifests[limits];
        if (manifest === undefined) throw new Error('no such manifest');
        const moment = { state: initialSurfaceState(), nowMs: 0 };
        const { decision } = enforceCall(manifest, { tool: 't', args }, moment);
        if (decision.kind !== 'refuse' || decision.suggested_args === null) return;
        suggested++;
        const again = enforceCall(manifest, { tool: 't', args: decision.suggested_args }, moment);
        expect(again.decision.kind).toBe('pass');
      }),
      { numRuns: 1_000 },
    );
    expect(suggested).toBeGreaterThan(50);
  });
});
