import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { relayStderr } from './relay-stderr.ts';

describe('the relay of stderr', () => {
  it('passes everything on before it is drained', async () => {
    const source = new PassThrough();
    let heard = '';
    const relay = relayStderr(source, (bytes, done) => {
      heard += bytes.toString();
      setImmediate(done);
    });
    for (let line = 0; line < 500; line++) source.write(`line ${line}\n`);
    source.end('\u001b]0;last');
    await relay.drained(5_000);
    expect(heard.split('\n')).toHaveLength(501);
    expect(heard.endsWith('\\u{1b}]0;last')).toBe(true);
  });

  it('reads no further while its output is not taken', async () => {
    const source = new PassThrough({ highWaterMark: 1_024 });
    const taken: (() => void)[] = [];
    let bytes = 0;
    const relay = relayStderr(source, (chunk, done) => {
      bytes += chunk.length;
      taken.push(done);
    });
    const line = `${'x'.repeat(1_000)}\n`;
    let accepted = 0;
    while (source.write(line)) accepted += 1;
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toHaveLength(1);
    expect(bytes).toBeLessThanOrEqual((accepted + 1) * line.length);
    // Nobody ever takes it: the end does not wait for that.
    await relay.drained(1);
    expect(source.destroyed).toBe(true);
  });

  it('shows a line without an end after a moment', async () => {
    const source = new PassThrough();
    const heard = new Promise<string>((resolve) => {
      relayStderr(source, (bytes) => resolve(bytes.toString()));
    });
    source.write('password: ');
    expect(await heard).toBe('password: ');
    source.destroy();
  });
});
