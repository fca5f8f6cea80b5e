import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import type { Incoming } from '../types.ts';
import { type FrameLimits, LineSplitter } from './split-lines.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const shown = (framed: Incoming) =>
  'bytes' in framed ? [framed.kind, Buffer.from(framed.bytes).toString('latin1')] : [framed.kind];

function split(chunks: readonly string[], limits: FrameLimits = {}) {
  const splitter = new LineSplitter(limits);
  const fed = chunks.flatMap((chunk) => splitter.feed(bytes(chunk)));
  return [...fed, ...splitter.end()];
}

describe('lines', () => {
  it('keeps each line with its newline and skips empty ones', () => {
    verifies('F-013');
    expect(split(['a\n\n \r\nb\r\nc\n']).map(shown)).toEqual([
      ['message', 'a\n'],
      ['message', 'b\r\n'],
      ['message', 'c\n'],
    ]);
  });

  it('copies nothing of a line that lies within one chunk', () => {
    const chunk = bytes('first\nsecond\n');
    for (const framed of new LineSplitter().feed(chunk)) {
      expect('bytes' in framed && framed.bytes.buffer === chunk.buffer).toBe(true);
    }
  });

  it('waits for the newline, and gives the rest when the input ends', () => {
    verifies('EC-STDIO-027');
    const splitter = new LineSplitter();
    expect(splitter.feed(bytes('{"a"'))).toEqual([]);
    expect(splitter.feed(bytes(':1}\n{"b')).map(shown)).toEqual([['message', '{"a":1}\n']]);
    expect(splitter.end().map(shown)).toEqual([['partial', '{"b']]);
    expect(splitter.end()).toEqual([]);
  });
});

describe('lines that are too long to inspect', () => {
  it('streams them: a head, pieces, and an end', () => {
    verifies('IP-1.10', 'T-A2.4');
    expect(split(['abcde', 'fg', 'hi\nj\n'], { inspectBytesMax: 3 }).map(shown)).toEqual([
      ['head', 'abc'],
      ['piece', 'de'],
      ['piece', 'fg'],
      ['piece', 'hi'],
      ['end'],
      ['message', 'j\n'],
    ]);
  });

  it('delivers a line of exactly the limit whole', () => {
    expect(split(['ab', 'c\n'], { inspectBytesMax: 3 }).map(shown)).toEqual([['message', 'abc\n']]);
  });

  it('gives up beyond the cap and goes on with the next line', () => {
    verifies('EC-STDIO-014');
    const limits = { inspectBytesMax: 3, messageBytesMax: 5 };
    const framed = split(['abcde', 'f', 'ghi\nj\n'], limits);
    expect(framed.map(shown)).toEqual([
      ['head', 'abc'],
      ['piece', 'de'],
      ['too_large'],
      ['message', 'j\n'],
    ]);
    expect(framed[2]).toEqual({ kind: 'too_large', bytesTotal: 6 });
    expect(split(['abcdef\nj\n'], limits).map(shown)).toEqual([
      ['head', 'abc'],
      ['too_large'],
      ['message', 'j\n'],
    ]);
  });

  it('marks one as incomplete when the input ends within it', () => {
    expect(split(['abcdef'], { inspectBytesMax: 3 }).at(-1)).toEqual({
      kind: 'end',
      bytesTotal: 6,
      isComplete: false,
    });
  });
});

describe('whatever the chunks', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\r', '{', '}'), maxLength: 30 });
  const cuts = fc.array(fc.nat({ max: 12 }), { maxLength: 40 });

  it('gives the same bytes in the same order', () => {
    verifies('F-013');
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        cuts,
        fc.integer({ min: 1, max: 40 }),
        (lines, sizes, limit) => {
          const text = lines.map((one) => `${one}\n`).join('');
          const splitter = new LineSplitter({ inspectBytesMax: limit });
          const out: Incoming[] = [];
          let rest = bytes(text);
          for (const size of sizes) {
            out.push(...splitter.feed(rest.subarray(0, size)));
            rest = rest.subarray(size);
          }
          out.push(...splitter.feed(rest), ...splitter.end());
          const joined = out.map((framed) =>
            framed.kind === 'end'
              ? '\n'
              : 'bytes' in framed
                ? Buffer.from(framed.bytes).toString('latin1')
                : '',
          );
          const wanted = lines.filter((one) => one.length > limit || /[^ \r]/.test(one));
          expect(joined.join('')).toBe(wanted.map((one) => `${one}\n`).join(''));
          const lengths = out.map((framed) =>
            framed.kind === 'message' ? framed.bytes.length : 0,
          );
          expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(limit + 1);
        },
      ),
    );
  });
});

describe('lines that are read into the memory of the splitter', () => {
  /** Reads a text in pieces of these sizes, as the kernel would: never more than there is room for. */
  function readIn(text: string, sizes: readonly number[], limits: FrameLimits = {}) {
    const splitter = new LineSplitter(limits);
    const out: Incoming[] = [];
    let rest = bytes(text);
    for (let at = 0; rest.length > 0; at++) {
      const room = splitter.room();
      const length = Math.min(room.length, rest.length, sizes[at % sizes.length] ?? 1);
      room.set(rest.subarray(0, length));
      // What was in the rest of the room before is of no account.
      room.fill(0x0a, length);
      out.push(...splitter.took(length));
      rest = rest.subarray(length);
    }
    return [...out, ...splitter.end()];
  }

  it('are the same as in chunks, whatever the reads, and stay as they are while more is read', () => {
    verifies('F-013');
    const length = fc.oneof(
      fc.nat({ max: 60 }),
      fc.nat({ max: 20_000 }),
      fc.integer({ min: 30_000, max: 400_000 }),
    );
    fc.assert(
      fc.property(
        fc.array(length, { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(50, 35_000, 200_000, 1_000_000),
        (lengths, sizes, inspectBytesMax) => {
          const line = (size: number, at: number) => String.fromCharCode(97 + at).repeat(size);
          const text = `${lengths.map(line).join('\n')}\n{"cut`;
          // The smallest of the sizes would make a long text a million reads.
          const least = Math.ceil(text.length / 2_000);
          const read = readIn(
            text,
            sizes.map((size) => Math.max(size, least)),
            { inspectBytesMax },
          );
          expect(together(read)).toEqual(together(split([text], { inspectBytesMax })));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keep to themselves the memory that a long one needs', () => {
    const read = readIn(`${'x'.repeat(300_000)}\nshort\nlast\n`, [100_000]);
    const [long, ...short] = read.flatMap((one) => ('bytes' in one ? [one.bytes] : []));
    expect(long?.length).toBe(300_001);
    for (const one of short) {
      expect(one.buffer).not.toBe(long?.buffer);
      expect(one.buffer.byteLength).toBeLessThanOrEqual(65_536);
    }
  });

  it('bring more with one read the longer the line is, and never more than they may take', () => {
    const splitter = new LineSplitter();
    const rooms = Array.from({ length: 12 }, () => {
      const room = splitter.room();
      splitter.took(room.fill(0x78).length);
      return room.length;
    });
    expect(rooms[0]).toBe(32_768);
    expect(Math.max(...rooms)).toBe(262_144);
  });

  it('are not mixed with chunks: somebody may be reading into the memory', () => {
    const splitter = new LineSplitter();
    splitter.feed(bytes('{"a'));
    splitter.room().set(bytes('":1}\n'));
    expect(splitter.took(5).map(shown)).toEqual([['message', '{"a":1}\n']]);
    expect(() => splitter.feed(bytes('x'))).toThrow('the room that was given');
  });
});

/** What was framed as one text each, with the pieces of a large line together. */
function together(all: readonly Incoming[]): readonly string[] {
  const out: string[] = [];
  for (const one of all) {
    const text = 'bytes' in one ? Buffer.from(one.bytes).toString('latin1') : '';
    if (one.kind === 'piece') out.push(`${out.pop()}${text}`);
    else out.push(`${one.kind} ${text}`);
  }
  return out;
}
