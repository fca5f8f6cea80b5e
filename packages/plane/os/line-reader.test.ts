import { expect, test } from 'vitest';
import { LineReader } from './line-reader.ts';

test('a line that grows takes no more memory than the longest line may have', () => {
  const reader = new LineReader(1_000);
  const lines: (string | undefined)[] = [];
  for (let at = 0; at < 10; at++) {
    reader.read(Buffer.alloc(100, 'x'), (line) => lines.push(line));
    expect(reader.heldBytes).toBeLessThanOrEqual(1_000);
  }
  reader.read(Buffer.from('\n'), (line) => lines.push(line));
  expect(lines).toEqual(['x'.repeat(1_000)]);
});
