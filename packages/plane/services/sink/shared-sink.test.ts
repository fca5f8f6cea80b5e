import type { EventLine } from '@subluminal/core/ports';
import { describe, expect, it } from 'vitest';
import { type BatchingSink, offSink } from './prompt-sink.ts';
import { sharedSink } from './shared-sink.ts';

function watchedSink(): { readonly sink: BatchingSink; readonly pushed: string[][] } {
  const pushed: string[][] = [];
  let lines: string[] = [];
  const push = (): void => {
    if (lines.length > 0) pushed.push(lines);
    lines = [];
  };
  const write = ({ line }: EventLine) => void lines.push(line);
  return { sink: { ...offSink(), write, push }, pushed };
}

const event = (line: string): EventLine => ({ line, kind: 'durable' });
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

describe('a sink that sessions share', () => {
  it('hands over at once what is pushed, with all that was written before it', () => {
    const { sink, pushed } = watchedSink();
    const shared = sharedSink(sink);
    shared.write(event('a'));
    shared.write(event('b'));
    shared.push();
    expect(pushed).toEqual([['a', 'b']]);
  });

  it('hands over together what nobody pushes', async () => {
    const { sink, pushed } = watchedSink();
    const shared = sharedSink(sink);
    shared.write(event('a'));
    process.nextTick(() => shared.write(event('b')));
    await turnOfTheLoop();
    expect(pushed).toEqual([['a', 'b']]);
    shared.write(event('c'));
    await turnOfTheLoop();
    expect(pushed).toEqual([['a', 'b'], ['c']]);
  });

  it.each(['flush', 'close'] as const)('loses nothing when a session calls %s', async (end) => {
    const { sink, pushed } = watchedSink();
    const shared = sharedSink(sink);
    shared.write(event('a'));
    await shared[end](1_000);
    expect(pushed).toEqual([['a']]);
  });
});
