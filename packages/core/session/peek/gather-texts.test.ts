import { describe, expect, it } from 'vitest';
import { Outline } from './outline.ts';

/** The texts of a message that comes in parts of so many bytes. */
function gathered(params: unknown, partBytes: number) {
  const outline = new Outline(true);
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const bytes = new TextEncoder().encode(JSON.stringify(message));
  for (let at = 0; at < bytes.length; at += partBytes) {
    outline.feed(bytes.subarray(at, at + partBytes));
  }
  expect(outline.finish().kind).toBe('request');
  return outline.gathered();
}

const ARGS = {
  path: 'a "quoted" \\ ünïcode \n path',
  nested: [{ deep: ['x', 'y'] }, 'z'],
  content: `# ${'x'.repeat(6_000)}`,
  blob: 'A'.repeat(6_000),
};

describe('the texts of a large message', () => {
  it.each([1, 2, 3, 7, 100, 5_000, 100_000])('are gathered from parts of %i bytes', (partBytes) => {
    const { texts = [], isWhole } = gathered({ name: 't', arguments: ARGS }, partBytes) ?? {};
    expect(isWhole).toBe(true);
    const found = texts.filter(({ key }) => key !== 'file');
    expect(found).toEqual([
      { key: 'path', text: ARGS.path },
      { key: 'deep', text: 'x' },
      { key: 'deep', text: 'y' },
      { key: 'nested', text: 'z' },
      { key: 'content', text: undefined, mayBeCommand: true },
      { key: 'blob', text: undefined, mayBeCommand: false },
    ]);
    const keys = texts.filter(({ key }) => key === 'file').map(({ text }) => text);
    expect(keys).toEqual(['path', 'nested', 'deep', 'content', 'blob']);
  });

  it('stand behind the key of the list that they are in, whatever came before', () => {
    const args = [{ content: 'said' }, 'run', [{ a: { b: 'x' } }, 'run too'], 'and run'];
    const { texts = [] } = gathered({ name: 't', arguments: { args } }, 16) ?? {};
    const byKey = (key: string) =>
      texts.filter((found) => found.key === key).map(({ text }) => text);
    expect(byKey('args')).toEqual(['run', 'run too', 'and run']);
    expect(byKey('content')).toEqual(['said']);
  });

  it('are bounded, and `isWhole` is false when there are more', () => {
    const many = Array.from({ length: 30_000 }, () => 'x');
    expect(gathered({ name: 't', arguments: { many } }, 4_096)?.isWhole).toBe(false);
  });

  it('are not gathered unless a gate needs them', () => {
    const outline = new Outline();
    expect(outline.gathered()).toBeUndefined();
  });
});
