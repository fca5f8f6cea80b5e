// Whatever a client or a provider sends: a value or a failure comes of it, never a throw.
import { isFailure, type JsonObject, type JsonValue } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { wireFor } from './registry.ts';
import { translate } from './translate.ts';
import { FIXTURES, PAIRS, WIRE_NAMES } from './wires.test-support.ts';

/** The words of the wires, so that what is made up comes near to what is real. */
const WORDS = [
  ...new Set(
    WIRE_NAMES.flatMap((name) => {
      const { request, answer, stream } = FIXTURES[name];
      return (
        `${JSON.stringify(request)}${JSON.stringify(answer)}${stream}`.match(/\w{2,40}/g) ?? []
      );
    }),
  ),
  '__proto__',
  'constructor',
  'item_reference',
  'refusal',
  'error',
];

const { value: json } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...WORDS),
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...WORDS), tie('value'), { maxKeys: 8 }),
}));

const body = fc.dictionary(fc.constantFrom(...WORDS), json, { maxKeys: 12 });

/** A real body with one member exchanged, at any depth. */
function mutated(value: JsonValue, path: readonly number[], replacement: JsonValue): JsonValue {
  const [first, ...others] = path;
  if (first === undefined || typeof value !== 'object' || value === null) return replacement;
  const entries = Object.entries(value);
  if (entries.length === 0) return replacement;
  const place = first % entries.length;
  const changed = entries.map(([name, inner], index) =>
    index === place
      ? ([name, mutated(inner, others, replacement)] as const)
      : ([name, inner] as const),
  );
  return Array.isArray(value) ? changed.map(([, inner]) => inner) : Object.fromEntries(changed);
}

const path = fc.array(fc.nat(), { maxLength: 6 });

describe.each(WIRE_NAMES)('the wire %s', (name) => {
  const wire = wireFor(name);
  const { request, answer, stream } = FIXTURES[name];

  it('reads any JSON as a request or a failure, and writes it again', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          body,
          path.chain((at) => json.map((value) => mutated(request, at, value))),
        ),
        (value) => {
          if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
          const read = wire.readRequest(value as JsonObject);
          expect(isFailure(read) || JSON.stringify(wire.writeRequest(read).value)).toBeTruthy();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads any JSON as an answer or a failure, and writes it again', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          body,
          path.chain((at) => json.map((value) => mutated(answer, at, value))),
        ),
        (value) => {
          if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
          wire.observer().whole(value as JsonObject);
          const read = wire.readAnswer(value as JsonObject);
          expect(isFailure(read) || JSON.stringify(wire.writeAnswer(read).value)).toBeTruthy();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads any events, and ends every stream once', () => {
    const real = stream.match(/(?<=^data: ).*$/gm) ?? [];
    const data = fc.oneof(
      fc.constantFrom(...real),
      fc.string(),
      body.map((value) => JSON.stringify(value)),
      fc
        .tuple(fc.constantFrom(...real.filter((line) => line.startsWith('{'))), path, json)
        .map(([line, at, value]) =>
          JSON.stringify(mutated(JSON.parse(line) as JsonValue, at, value)),
        ),
    );
    fc.assert(
      fc.property(fc.array(data, { maxLength: 25 }), (lines) => {
        const reader = wire.answerReader();
        const observer = wire.observer();
        const writers = WIRE_NAMES.map((other) => wireFor(other).answerWriter());
        const events = [
          ...lines.flatMap((line) => {
            const event = { event: /"type":"([\w.]+)"/.exec(line)?.[1] ?? 'message', data: line };
            observer.push(event);
            return reader.push(event);
          }),
          ...reader.end(),
        ];
        for (const writer of writers) for (const event of events) writer.push(event);
        const ends = events.filter(({ type }) => type === 'end' || type === 'error');
        expect(ends).toHaveLength(1);
        expect(events.at(-1)).toBe(ends[0]);
        expect(observer.seen.contentLength).toBeGreaterThanOrEqual(0);
        expectBlocksInTurn(events);
      }),
      { numRuns: 300 },
    );
  });
});

/** A block ends before the next starts, and pieces come inside a block. */
function expectBlocksInTurn(events: readonly { readonly type: string }[]): void {
  let isOpen = false;
  for (const { type } of events) {
    const isInside = /^(?:block_end|text|thinking|input|seal)$/.test(type);
    expect(type === 'block_start' ? !isOpen : isOpen || !isInside).toBe(true);
    if (type === 'block_start') isOpen = true;
    if (type === 'block_end') isOpen = false;
  }
}

test.each(PAIRS)('%s to %s translates any request, or fails', (from, to) => {
  fc.assert(
    fc.property(path, json, (at, value) => {
      const changed = mutated(FIXTURES[from].request, at, value);
      if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return;
      const options = { from: wireFor(from), to: wireFor(to), model: 'm' };
      const result = translate({ ...options, body: changed as JsonObject });
      const shown = isFailure(result) ? result.code : JSON.stringify(result.body);
      expect(shown).toMatch(/^SUB_WIRE_|"model":"m"/);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['openai_chat_completions', { choices: [{ index: 0, delta: { content: 'x' } }] }],
  ['openai_responses', { type: 'response.created', response: {} }],
] as const)('an event of %s that nests without end is an error', (name, event) => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const data = JSON.stringify({ ...event, more: 0 }).replace('"more":0', `"more":${deep}`);
  const reader = wireFor(name).answerReader();
  expect(reader.push({ event: 'message', data })).toMatchObject([{ type: 'error' }]);
});
