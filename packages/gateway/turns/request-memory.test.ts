import { type Failure, isFailure } from '@subluminal/contracts';
import type { RequestOutline, WireName } from '@subluminal/core/wires';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { coreWires, rememberingWires } from './wires.ts';

const LISTS: { readonly [W in WireName]: string } = {
  anthropic_messages: 'messages',
  openai_chat_completions: 'messages',
  openai_responses: 'input',
};

const word = fc.constantFrom('fix', 'it', 'Ünïcode', '"quoted"', '\\', ']', '},{', '\n');
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
const message = fc.oneof(
  text.map((content) => ({ role: 'user', content })),
  text.map((content) => ({ role: 'assistant', content: [{ type: 'text', text: content }] })),
  text.map((content) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }],
  })),
  text.map((output) => ({ type: 'function_call_output', call_id: 'call_1', output })),
  fc.constant({ role: 'system', content: 'more' }),
);
const conversation = fc.record({
  messages: fc.array(message, { maxLength: 6 }),
  system: text,
  isFirst: fc.boolean(),
  indent: fc.constantFrom(0, 1),
});

interface Written {
  readonly messages: readonly object[];
  readonly system: string;
  /** Whether the messages stand before everything else, as some clients write them. */
  readonly isFirst: boolean;
  readonly indent: number;
}

function written(wire: WireName, { messages, system, isFirst, indent }: Written): Buffer {
  const list = { [LISTS[wire]]: messages };
  const others = { model: 'm', max_tokens: 9, stream: true, tools: [{ name: 'Bash' }] };
  const known = wire === 'anthropic_messages' ? { system } : {};
  const body = isFirst ? { ...list, ...known, ...others } : { ...others, ...known, ...list };
  return Buffer.from(JSON.stringify(body, null, indent));
}

function partText(from: Buffer, parts: RequestOutline['parts'], place: number): string {
  const range = parts.at(place)?.range;
  return from.subarray(range?.start, range?.end).toString();
}

function plain(outline: RequestOutline | Failure): unknown {
  if (isFailure(outline)) return outline.message;
  const { grownFrom: _grownFrom, ...rest } = outline;
  return rest;
}

const wires = fc.constantFrom<WireName>(
  'anthropic_messages',
  'openai_chat_completions',
  'openai_responses',
);

it('finds in a request that repeats another what a walk through all of it finds', () => {
  let grown = 0;
  const next = fc.record({ kept: fc.nat(6), added: fc.array(message, { maxLength: 3 }) });
  const requests = fc.tuple(wires, conversation, fc.array(next, { maxLength: 4 }), text);
  fc.assert(
    fc.property(requests, ([wire, first, steps, system]) => {
      const memory = rememberingWires();
      const bodies = new Map<unknown, Buffer>();
      const body = written(wire, first);
      const known = memory.outline(wire, body, 'c');
      if (!isFailure(known)) bodies.set(known.parts, body);
      let { messages } = first;
      for (const [index, { kept, added }] of steps.entries()) {
        messages = [...messages.slice(0, kept), ...added];
        const isChanged = index === 2;
        const bytes = written(wire, { ...first, messages, ...(isChanged && { system }) });
        const outline = memory.outline(wire, bytes, 'c');
        expect(plain(outline)).toEqual(plain(coreWires.outline(wire, bytes)));
        if (isFailure(outline)) continue;
        bodies.set(outline.parts, bytes);
        const shared = outline.grownFrom;
        const before = bodies.get(shared?.parts) ?? Buffer.of();
        grown += shared === undefined ? 0 : 1;
        for (let place = 0; place < (shared?.first ?? 0); place++) {
          expect(partText(bytes, outline.parts, place)).toBe(
            partText(before, shared?.parts ?? [], place),
          );
        }
        for (let place = -(shared?.last ?? 0); place < 0; place++) {
          expect(partText(bytes, outline.parts, place)).toBe(
            partText(before, shared?.parts ?? [], place),
          );
        }
      }
    }),
    { numRuns: 400 },
  );
  expect(grown).toBeGreaterThan(50);
});

it('reads whatever follows a known request as if it had never seen one', () => {
  fc.assert(
    fc.property(wires, conversation, fc.nat(), fc.nat(255), (wire, known, at, byte) => {
      const memory = rememberingWires();
      const bytes = written(wire, known);
      memory.outline(wire, bytes, 'c');
      const changed = Buffer.from(bytes);
      changed[at % changed.length] = byte;
      expect(plain(memory.outline(wire, changed, 'c'))).toEqual(
        plain(coreWires.outline(wire, changed)),
      );
      const cut = Buffer.concat([bytes.subarray(0, at % bytes.length), bytes]);
      expect(plain(memory.outline(wire, cut, 'c'))).toEqual(plain(coreWires.outline(wire, cut)));
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  ['a message with a key twice', '{"role":"user","role":"assistant","content":""}'],
  ['a number', '7'],
  ['a message without its end', '{"role":"user"'],
  ['bytes that are not UTF-8', '"\xff"'],
])('refuses %s that is added, as it does anywhere', (_what, added) => {
  const memory = rememberingWires();
  const bodyWith = (messages: string) =>
    Buffer.from(`{"model":"m","messages":[{"role":"user","content":"a"}${messages}]}`, 'latin1');
  memory.outline('anthropic_messages', bodyWith(''), 'c');
  const bytes = bodyWith(`,${added}`);
  const outline = memory.outline('anthropic_messages', bytes, 'c');
  expect(isFailure(outline)).toBe(true);
  expect(outline).toEqual(coreWires.outline('anthropic_messages', bytes));
});

it('keeps bytes of its own: whoever sent a request may change them', () => {
  const memory = rememberingWires();
  const body = (...texts: string[]) =>
    Buffer.from(
      JSON.stringify({ model: 'm', messages: texts.map((content) => ({ role: 'user', content })) }),
    );
  const first = body('one', 'two');
  memory.outline('anthropic_messages', first, 'c');
  first.fill(0);
  for (const texts of [
    ['one', 'two', 'three'],
    ['one', 'two'],
    ['one', 'six', 'three', 'four'],
  ]) {
    const bytes = body(...texts);
    const outline = memory.outline('anthropic_messages', bytes, 'c');
    expect(plain(outline)).toEqual(plain(coreWires.outline('anthropic_messages', bytes)));
    expect(isFailure(outline) ? outline : outline.grownFrom).toBeDefined();
    bytes.fill(0);
  }
});

it('keeps several requests of one conversation apart, and forgets the oldest conversations', () => {
  const memory = rememberingWires();
  const ask = (name: string, rounds: number, id: string) => {
    const messages = Array.from({ length: rounds }, (_, round) => ({
      role: 'user',
      content: `${name} ${round}`,
    }));
    const outline = memory.outline(
      'anthropic_messages',
      Buffer.from(JSON.stringify({ model: 'm', messages })),
      id,
    );
    if (isFailure(outline)) throw new Error(outline.message);
    return outline.grownFrom?.first;
  };
  expect(ask('main', 2, 'c')).toBeUndefined();
  expect(ask('helper', 3, 'c')).toBeUndefined();
  expect(ask('main', 3, 'c')).toBe(2);
  expect(ask('helper', 4, 'c')).toBe(3);
  expect(ask('main', 4, 'other')).toBeUndefined();
  const large = 'x'.repeat(2 ** 20);
  for (let id = 0; id < 80; id++) ask(large, 1, `large ${id}`);
  expect(ask('main', 4, 'c')).toBeUndefined();
});
