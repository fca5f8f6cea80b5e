import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isFailure } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { rememberingWires } from './wires.ts';

const MEGABYTE = 2 ** 20;

// Garbage would hide what is kept: it is collected before each look.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** By how much the process has grown after so many requests, each of a conversation of its own. */
function grownBytes(requests: number, bodyOf: (request: number) => Buffer) {
  const wires = rememberingWires();
  const used = () => {
    collect();
    // What the first one found to be free, the second one gives back.
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return { heapUsed, external };
  };
  const before = used();
  for (let request = 0; request < requests; request++) {
    const name = `conversation-${request}-${'x'.repeat(100)}`;
    const outline = wires.outline('anthropic_messages', bodyOf(request), name);
    if (isFailure(outline)) throw new Error(outline.message);
  }
  const after = used();
  expect(wires.wire('anthropic_messages')).toBeDefined();
  return {
    heapBytes: after.heapUsed - before.heapUsed,
    externalBytes: after.external - before.external,
  };
}

const body = (content: string, tools: readonly string[] = []) =>
  Buffer.from(
    JSON.stringify({
      model: 'claude-sonnet-of-the-client',
      max_tokens: 9,
      tools: tools.map((name) => ({ name, input_schema: { type: 'object' } })),
      messages: [{ role: 'user', content }],
    }),
  );

it('the memory of requests counts what a body is a part of', () => {
  const { externalBytes } = grownBytes(300, (request) => {
    const one = body(`short ${request}`);
    const whole = Buffer.alloc(MEGABYTE);
    one.copy(whole);
    return whole.subarray(0, one.length);
  });
  expect(externalBytes).toBeLessThan(80 * MEGABYTE);
});

it('the memory of requests keeps the bytes of a request, and no text of it beside them', () => {
  const tools = Array.from({ length: 20 }, (_, index) => `tool_with_a_long_name_${index}`);
  const { heapBytes } = grownBytes(300, (request) =>
    body(`${request} ${'words of a file. '.repeat(10_000)}`, tools),
  );
  expect(heapBytes).toBeLessThan(8 * MEGABYTE);
});

it('the memory of requests keeps no names of conversations whose requests are too large for it', () => {
  const large = body('x'.repeat(4 * MEGABYTE));
  const wires = rememberingWires();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let request = 0; request < 300; request++) {
    wires.outline('anthropic_messages', large, `${request}-${'x'.repeat(65_536)}`);
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * MEGABYTE);
  expect(wires.wire('anthropic_messages')).toBeDefined();
});
