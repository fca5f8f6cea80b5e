// With the help that the outside may lend, a session tells the same as without.
import { describe, expect, it } from 'vitest';
import { call, eventsOf, play, result, toyHash } from './playbook.test-support.ts';

const toyHashOfBytes = (bytes: Uint8Array) => toyHash(Buffer.from(bytes).toString('latin1'));
const raw = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${args}}}`;

describe('a hash of bytes', () => {
  it.each([
    '{}',
    'null',
    '{"a":1,"b":[true,"x"]}',
    '{"b":1,"a":2}',
    '{ "a" : 1.50 }',
    '{"a":"\\u0041\\/"}',
    '{"a":1,"a":2}',
    '[]',
    `{"text":"${'long '.repeat(50)}"}`,
  ])('is that of the text: %s', async (args) => {
    const plain = await play();
    const native = await play([], { config: { sha256Bytes: toyHashOfBytes } });
    expect(native.send('agent', raw(args))).toEqual(plain.send('agent', raw(args)));
  });

  it('is taken of arguments that are canonical as they came, and of no others', async () => {
    const sha256Bytes = () => 'b'.repeat(64);
    const { send } = await play([], { config: { sha256Bytes } });
    const hashOf = (args: string) =>
      eventsOf(send('agent', raw(args).replace('"id":1,', '')), 'tool_call_start')[0]?.call
        .args_hash;
    expect(hashOf('{"a":1,"b":2}')).toBe('b'.repeat(64));
    expect(hashOf('{"b":2,"a":1}')).toBe(toyHash('{"a":1,"b":2}'));
    expect(hashOf('{"a":1, "b":2}')).toBe(toyHash('{"a":1,"b":2}'));
  });
});

describe('a look at bytes before they are redacted', () => {
  it('does not redact a part that is clean, and redacts every other part', async () => {
    const redacted: string[] = [];
    const redact = (text: string) => {
      redacted.push(text);
      return text.replaceAll('hunter2', '***');
    };
    const isClean = (bytes: Uint8Array, start: number, end: number) =>
      !Buffer.from(bytes.subarray(start, end)).includes('hunter');
    const { send } = await play([], { config: { redact, isClean } });
    const [clean] = eventsOf(send('agent', call(1, 't', { a: 'fine' })), 'tool_call_start');
    const [dirty] = eventsOf(send('agent', call(2, 't', { a: 'hunter2' })), 'tool_call_start');
    const [ended] = eventsOf(send('server', result(1, { b: 'fine' })), 'tool_call_end');
    expect(clean?.call.preview.args_preview).toBe('{"a":"fine"}');
    expect(dirty?.call.preview.args_preview).toBe('{"a":"***"}');
    expect(ended?.preview.result_preview).toBe('{"b":"fine"}');
    expect(redacted).toEqual(['t', '{"a":"hunter2"}']);
  });
});

it('a preview is cut by its length, not by the bytes of its characters', async () => {
  const { send } = await play([], { config: { limits: { previewBytesMax: 64 } } });
  const [started] = eventsOf(
    send('agent', call(1, 't', { a: '你'.repeat(9_000) })),
    'tool_call_start',
  );
  expect(started?.call.preview.truncated).toBe(true);
  expect(Buffer.byteLength(started?.call.preview.args_preview ?? '')).toBeGreaterThan(60);
});
