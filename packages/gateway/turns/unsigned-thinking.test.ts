import { isFailure } from '@subluminal/contracts';
import { wireFor } from '@subluminal/core/wires';
import { expect, test } from 'vitest';
import { withoutUnsignedThinking } from './unsigned-thinking.ts';

const anthropic = wireFor('anthropic_messages');
const SIGNED = { type: 'thinking', thinking: 'Mine.', signature: 'EqQBCg==' };
const UNSIGNED = { type: 'thinking', thinking: 'Of another.', signature: '' };
const TEXT = { type: 'text', text: 'Hi.' };

function bodyWith(content: readonly object[]): Buffer {
  const messages = [
    { role: 'user', content: [TEXT] },
    { role: 'assistant', content },
  ];
  return Buffer.from(JSON.stringify({ model: 'm', max_tokens: 5, messages, x_new: [1] }));
}

test('thoughts without a signature are left out, and nothing else is', () => {
  const body = withoutUnsignedThinking(bodyWith([UNSIGNED, SIGNED, TEXT]), anthropic);
  if (isFailure(body)) throw new Error(body.message);
  const expected: unknown = JSON.parse(bodyWith([SIGNED, TEXT]).toString());
  expect(JSON.parse(Buffer.from(body).toString())).toEqual(expected);
});

test('a request whose thoughts are all signed keeps its bytes', () => {
  const empty = { type: 'tool_use', id: 't', name: 'x', input: { path: '' } };
  for (const body of [bodyWith([SIGNED, TEXT]), bodyWith([SIGNED, empty])]) {
    expect(withoutUnsignedThinking(body, anthropic)).toBe(body);
  }
});

test('a request of another wire keeps its bytes', () => {
  const body = bodyWith([UNSIGNED]);
  expect(withoutUnsignedThinking(body, wireFor('openai_responses'))).toBe(body);
});

test('a request that is no JSON inside of a string is refused', () => {
  const body = Buffer.from('{"model":"\\x","signature":""}');
  expect(withoutUnsignedThinking(body, anthropic)).toMatchObject({ code: 'SUB_WIRE_REQUEST' });
});
