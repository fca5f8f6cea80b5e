// What one wire says and another can carry is the same after the way there and back.
import { isFailure, type JsonObject } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeMessages } from './cross-request.ts';
import { wireFor } from './registry.ts';
import type { Block, Message, ModelRequest, Tool, WireName } from './shared/form.ts';
import { translate } from './translate.ts';
import { PAIRS, WIRE_NAMES } from './wires.test-support.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const word = fc.stringMatching(/^[a-z]{1,6}$/);
const schema = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(word, fc.constant({ type: 'string' })),
});
const said = fc.record({ type: fc.constant('text' as const), text });
const image = fc.constantFrom<Block>(
  { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0K' } },
  { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
);
const call = fc.record({
  name: word,
  input: fc.dictionary(word, text, { noNullPrototype: true }).map((value) => JSON.stringify(value)),
  result: fc.array(said, { maxLength: 2 }),
});
const turn = fc.record({
  user: fc.array(fc.oneof(said, image), { minLength: 1, maxLength: 3 }),
  words: fc.array(said, { maxLength: 2 }),
  calls: fc.array(call, { maxLength: 3 }),
});

/** The calls of a turn in parallel, and their results in one message. */
const messages = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) =>
  turns.flatMap(({ user, words, calls }, index): readonly Message[] => {
    const uses = calls.map(
      ({ name, input }, at): Block => ({
        type: 'tool_use',
        id: `call_${index}_${at}`,
        name,
        input,
      }),
    );
    const results = calls.map(
      ({ result }, at): Block => ({
        type: 'tool_result',
        toolUseId: `call_${index}_${at}`,
        blocks: result,
        isError: false,
      }),
    );
    return [
      { role: 'user', blocks: user },
      ...(words.length + uses.length === 0
        ? []
        : [{ role: 'assistant', blocks: [...words, ...uses] } as const]),
      ...(results.length === 0 ? [] : [{ role: 'user', blocks: results } as const]),
    ];
  }),
);

const tool = fc.record({
  kind: fc.constant('function' as const),
  name: word,
  description: text,
  schema,
});

const request: fc.Arbitrary<ModelRequest> = fc.record(
  {
    model: fc.constant('m'),
    system: fc.array(said, { maxLength: 2 }),
    messages,
    tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    toolChoice: fc.constantFrom(
      { kind: 'auto' } as const,
      { kind: 'any' } as const,
      { kind: 'none' } as const,
    ),
    maxTokens: fc.integer({ min: 16, max: 64_000 }),
    temperature: fc.constantFrom(0, 0.5, 1),
    stopSequences: fc.constant([]),
    isStream: fc.boolean(),
    user: word,
    output: fc.record({ kind: fc.constant('schema' as const), schema }),
    reasoning: fc.record({
      effort: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
    }),
  },
  {
    requiredKeys: [
      'model',
      'system',
      'messages',
      'tools',
      'stopSequences',
      'isStream',
      'maxTokens',
    ],
  },
);

function read(wire: WireName, body: JsonObject): ModelRequest {
  const result = wireFor(wire).readRequest(body);
  if (isFailure(result)) throw new Error(result.message);
  return result;
}

function crossed(from: WireName, to: WireName, body: JsonObject) {
  const result = translate({ from: wireFor(from), to: wireFor(to), body, model: 'm' });
  if (isFailure(result)) throw new Error(result.message);
  return result;
}

/** The request without what wires spell differently: texts in blocks, messages in a row, the order of JSON. */
function meaning(value: ModelRequest) {
  const { system, tools, output, toolChoice, maxTokens, temperature, user, reasoning, isStream } =
    value;
  return {
    system: system.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n\n'),
    messages: mergeMessages(value.messages).map(({ role, blocks }) => ({
      role,
      blocks: blocks.map(blockMeaning),
    })),
    tools: tools.map(toolMeaning),
    schema: output?.kind === 'schema' ? output.schema : undefined,
    effort: reasoning?.effort,
    ...{ toolChoice, maxTokens, temperature, user, isStream },
  };
}

function blockMeaning(block: Block): unknown {
  if (block.type === 'unknown') return block;
  const { rest: _, ...plain } = block;
  if (plain.type === 'tool_use') return { ...plain, input: JSON.parse(plain.input) as unknown };
  if (plain.type === 'tool_result') return { ...plain, blocks: plain.blocks.map(blockMeaning) };
  return plain;
}

function toolMeaning(value: Tool): unknown {
  return value.kind === 'function'
    ? [value.name, value.description, value.schema, value.isStrict ?? false]
    : value;
}

describe.each(PAIRS)('a request of %s', (wire, other) => {
  it(`keeps its meaning on the way to ${other} and back, and loses nothing unnamed`, () => {
    fc.assert(
      fc.property(request, (form) => {
        const body = wireFor(wire).writeRequest(form).value;
        const there = crossed(wire, other, body);
        expect(there.degraded).toEqual([]);
        const back = crossed(other, wire, there.body);
        expect(meaning(read(wire, back.body))).toEqual(meaning(read(wire, body)));
        expect(meaning(read(other, there.body))).toEqual(meaning(read(wire, body)));
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(WIRE_NAMES)('on the wire %s', (wire) => {
  it('a request that is read and written is read alike', () => {
    fc.assert(
      fc.property(request, (form) => {
        const body = wireFor(wire).writeRequest(form).value;
        const again = wireFor(wire).writeRequest(read(wire, body));
        expect(again.degraded).toEqual([]);
        expect(again.value).toEqual(body);
      }),
      { numRuns: 60 },
    );
  });
});
