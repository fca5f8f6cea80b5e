import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isFailure } from '@subluminal/contracts';
import type { Actions } from '@subluminal/core/detect';
import { outlineRequest, type RequestOutline } from '@subluminal/core/wires';
import { expect, it } from 'vitest';
import { TurnInspector } from './inspector.ts';

const MEGABYTE = 2 ** 20;
const actions: Actions = {
  outbound: { secret: 'redact', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  inbound: { secret: 'tag', personal: 'tag', injection: 'tag', hidden_text: 'tag' },
  confidenceMin: 'likely',
  blockConfidence: 'certain',
  unscanned: 'block',
};

// Garbage would hide what is kept: it is collected before each look.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/**
 * By how much the heap has grown after so many turns, each of one message of its own. All requests are remembered, as
 * those of conversations that go on are.
 */
function grownBytes(turns: number, message: (turn: number) => string): number {
  const remembered: RequestOutline[] = [];
  const inspector = new TurnInspector({
    fingerprint: (text) => String(text.length),
    classes: ['secret', 'personal'],
    actions,
  });
  const inspect = (turn: number) => {
    const messages = [{ role: 'user', content: message(turn) }];
    const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages }));
    const outline = outlineRequest('anthropic_messages', body);
    if (isFailure(outline)) throw new Error(outline.message);
    remembered.push({ ...outline, model: 'm' });
    const inspection = inspector.inspect({ body, outline });
    if (isFailure(inspection)) throw new Error(inspection.message);
    inspection.signals();
    inspection.redacted();
  };
  inspect(turns);
  const before = heapBytes();
  for (let turn = 0; turn < turns; turn++) inspect(turn);
  const grown = heapBytes() - before;
  // It is kept until here, with all that it knows.
  expect(inspector).toBeInstanceOf(TurnInspector);
  expect(remembered).toHaveLength(turns + 1);
  return grown;
}

it('the inspector keeps the paths that a message names, and not the message', () => {
  const words = 'Some words about nothing. '.repeat(1_200);
  const grown = grownBytes(300, (turn) => `Edit src/orders-${turn}.ts: ${words}`);
  expect(grown).toBeLessThan(2 * MEGABYTE);
});

it('the inspector forgets earlier messages when much was found in them', () => {
  const grown = grownBytes(2_000, (turn) =>
    Array.from({ length: 150 }, (_, index) => `person${index}.${turn}@mail.corp-a.com`).join(' '),
  );
  expect(grown).toBeLessThan(24 * MEGABYTE);
});

it('the inspector keeps the secrets that it takes out, and not the texts around them', () => {
  const words = 'Some words about nothing. '.repeat(1_200);
  const token = (turn: number) =>
    `ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC${String(turn).padStart(7, 'x')}`;
  const grown = grownBytes(300, (turn) => `${words} ${token(turn)} ${words}`);
  expect(grown).toBeLessThan(2 * MEGABYTE);
});
