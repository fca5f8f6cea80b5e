import { describe, expect, it } from 'vitest';
import { GenerationCache } from './generation-cache.ts';

const BYTES_MAX = 1_000;
const names = (count: number) => Array.from({ length: count }, (_, index) => `key-${index}`);

/** Of the last to the first: a question moves a value into the young generation. */
function kept(cache: GenerationCache<{ readonly bytes: number }>, keys: readonly string[]): number {
  return keys.toReversed().filter((key) => cache.get(key) !== undefined).length;
}

describe('the cache of two generations', () => {
  it('keeps no more than its bytes, however many keys come', () => {
    const cache = new GenerationCache<{ readonly bytes: number }>(BYTES_MAX);
    for (const key of names(10_000)) cache.put(key, { bytes: 10 });
    expect(kept(cache, names(10_000).slice(-50))).toBe(50);
    expect(kept(cache, names(10_000).slice(0, -100))).toBe(0);
  });

  it('keeps what is asked for while others come', () => {
    const cache = new GenerationCache<{ readonly bytes: number }>(BYTES_MAX);
    cache.put('asked', { bytes: 10 });
    for (const key of names(10_000)) {
      cache.put(key, { bytes: 10 });
      cache.get('asked');
    }
    expect(cache.get('asked')).toEqual({ bytes: 10 });
  });

  it('counts a value that takes the place of another once', () => {
    const cache = new GenerationCache<{ readonly bytes: number }>(BYTES_MAX);
    cache.put('other', { bytes: 10 });
    for (const _ of names(10_000)) cache.put('same', { bytes: 400 });
    expect(cache.get('other')).toBeDefined();
  });

  it('counts what a value takes more since it was put', () => {
    const cache = new GenerationCache<{ readonly bytes: number }>(BYTES_MAX);
    for (const key of names(3)) {
      const value = { bytes: 10 };
      cache.put(key, value);
      value.bytes += 480;
      cache.grow(480);
    }
    expect(kept(cache, names(3))).toBe(2);
  });

  it('does not keep a value that a generation has no room for, and forgets no other for it', () => {
    const cache = new GenerationCache<{ readonly bytes: number }>(BYTES_MAX);
    cache.put('small', { bytes: 10 });
    for (const key of names(10)) cache.put(key, { bytes: BYTES_MAX });
    expect(kept(cache, names(10))).toBe(0);
    expect(cache.get('small')).toBeDefined();
  });
});
