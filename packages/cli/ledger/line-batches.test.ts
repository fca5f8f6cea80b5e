import { describe, expect, test } from 'vitest';
import { type LineBatch, lineBatches } from './line-batches.ts';

async function batchesOf(chunks: readonly string[], limits?: Parameters<typeof lineBatches>[1]) {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const batches: LineBatch[] = [];
  for await (const batch of lineBatches(stream(), limits)) batches.push(batch);
  return batches;
}

async function namesOf(text: string) {
  const lines = (await batchesOf([text])).flatMap((batch) => batch.lines);
  return lines.map(({ producer, seq }) => `${producer} ${seq}`);
}

const small = { linesMax: 2, batchBytesMax: 1_000, lineBytesMax: 10 };

describe('lines', () => {
  test('are the same wherever the chunks end', async () => {
    const text = 'one\n\ntwo\r\nthree\n';
    const whole = await batchesOf([text]);
    expect(whole.flatMap(({ lines }) => lines.map(({ line }) => line))).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(whole[0]?.numbers).toEqual([1, 3, 4]);
    expect(await batchesOf([...text])).toEqual(whole);
  });

  test('lines come in batches of bounded size', async () => {
    const batches = await batchesOf(['a\nb\nc\nd\ne\n'], small);
    expect(batches.map(({ lines }) => lines.length)).toEqual([2, 2, 1]);
  });

  test('lines that are too long are left out, and do not hide the next', async () => {
    const [batch] = await batchesOf(['x'.repeat(6), `${'x'.repeat(6)}\nb\n`], small);
    expect(batch?.tooLong).toEqual([1]);
    expect(batch?.lines.map(({ line }) => line)).toEqual(['b']);
  });

  test('a last line without its end is returned apart', async () => {
    const [batch] = await batchesOf(['a\nb']);
    expect(batch?.lines.map(({ line }) => line)).toEqual(['a']);
    expect(batch?.cut).toMatchObject({ line: 'b', number: 2 });
  });
});

describe('names of lines', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `line ${index % 7}`);
  const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

  test('are all different, equal lines included', async () => {
    expect(new Set(await namesOf(text(many))).size).toBe(many.length);
  });

  test('the names of lines stay when the file grows', async () => {
    const grown = await namesOf(text(many));
    expect(grown.slice(0, 1_500)).toEqual(await namesOf(text(many.slice(0, 1_500))));
  });

  test('are others from the first line that differs', async () => {
    const before = await namesOf(text(many));
    const after = await namesOf(text(many.with(1_200, 'another')));
    expect(after.slice(0, 1_200)).toEqual(before.slice(0, 1_200));
    const known = new Set(before);
    expect(after.slice(1_200).filter((name) => known.has(name))).toEqual([]);
  });

  test('are numbers that a ledger takes', async () => {
    const [batch] = await batchesOf([text(many)]);
    for (const { seq } of batch?.lines ?? []) expect(Number.isSafeInteger(seq)).toBe(true);
  });
});
