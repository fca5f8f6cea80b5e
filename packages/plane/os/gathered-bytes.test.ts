import { expect, test } from 'vitest';
import { GatheredBytes } from './gathered-bytes.ts';

test.each([0, 1, 2, 1_023, 1_024, 1_025, 5_000])('%i parts are the whole, in order', (count) => {
  const bytes = new GatheredBytes();
  const parts = Array.from({ length: count }, (_, at) => Buffer.from(`${at},`));
  for (const part of parts) bytes.add(part);
  expect(bytes.length).toBe(Buffer.concat(parts).length);
  expect(bytes.take()).toEqual(Buffer.concat(parts));
  expect(bytes.take()).toHaveLength(0);
});
