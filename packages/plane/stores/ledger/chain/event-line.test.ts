import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shim } from '../testing/events.ts';
import { isSameLine, readLine } from './event-line.ts';
import { digestOf } from './hash-chain.ts';

const DROPPED = { truncated: true, previews_dropped: true };

function start(call: string, preview?: object): string {
  return new Shim('a').start(call, preview === undefined ? {} : { preview: preview as never }).line;
}

function end(preview?: object): string {
  return new Shim('a').end('c', preview === undefined ? {} : { preview: preview as never }).line;
}

describe('a line under a number that is taken', () => {
  it('is the same when every byte is', () => {
    fc.assert(
      fc.property(fc.string(), (line) => {
        expect(isSameLine({ line, digest: null }, line)).toBe(true);
        expect(isSameLine({ line: null, digest: digestOf(line) }, line)).toBe(true);
        expect(isSameLine({ line: null, digest: digestOf(line) }, `${line} `)).toBe(false);
        expect(isSameLine({ line, digest: null }, `${line} `)).toBe(false);
      }),
    );
  });

  it.each([
    ['a start', start('c'), start('c', DROPPED)],
    ['an end', end(), end(DROPPED)],
  ])('is the same when its sender has left out the preview: %s', (_, whole, lean) => {
    expect(whole).not.toBe(lean);
    expect(isSameLine({ line: whole, digest: null }, lean)).toBe(true);
    expect(isSameLine({ line: lean, digest: null }, whole)).toBe(true);
  });

  it('is the same when the ledger has pruned the preview', () => {
    const line = start('c', { truncated: false, pruned: true });
    expect(isSameLine({ line, digest: digestOf(start('c')) }, start('c'))).toBe(true);
    expect(isSameLine({ line, digest: digestOf(start('c')) }, start('c', DROPPED))).toBe(true);
  });

  it.each([
    ['another call', start('c'), start('d')],
    ['another call without a preview', start('c'), start('d', DROPPED)],
    ['another preview', start('c'), start('c', { truncated: false, args_preview: 'x' })],
    ['another type', start('c'), end(DROPPED)],
    ['no event', start('c'), 'x'],
    ['a preview left out of no event', start('c'), '{"preview":{"previews_dropped":true}}'],
  ])('is another one: %s', (_, stored, line) => {
    expect(isSameLine({ line: stored, digest: null }, line)).toBe(false);
  });
});

describe('a line of bytes', () => {
  it('is read as its text is, and keeps its bytes', () => {
    const call = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(call, (name) => {
        const line = start(name);
        expect(readLine(Buffer.from(line))).toEqual(readLine(line));
        expect(readLine(line)).toMatchObject({ ok: true, bytes: Buffer.from(line) });
      }),
    );
  });

  it('has U+FFFD in place of what is no UTF-8', () => {
    const bytes = Buffer.from(start('zz'));
    const broken = Buffer.from(bytes);
    broken[bytes.indexOf('zz')] = 0xff;
    const read = readLine(broken);
    expect(read).toEqual(readLine(broken.toString('utf8')));
    expect(read).toMatchObject({ ok: true, bytes: Buffer.from(broken.toString('utf8')) });
  });
});
