import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HarmlessText } from './relay-stderr.ts';

/** The text of these bytes, given in pieces of so many. */
function shown(bytes: string | Uint8Array, pieceBytes = Number.POSITIVE_INFINITY): string {
  const all = Buffer.from(bytes);
  const text = new HarmlessText();
  let out = '';
  for (let at = 0; at < all.length; at += pieceBytes) {
    out += text.push(all.subarray(at, Math.min(all.length, at + pieceBytes)));
  }
  return out + text.end();
}

/** As it is when each piece comes alone, and somebody waits in between. */
function shownSlowly(...pieces: readonly string[]): string {
  const text = new HarmlessText();
  const parts = pieces.map((piece) => text.push(Buffer.from(piece)) + text.flush());
  return parts.join('') + text.end();
}

describe('the stderr of a server', () => {
  it.each([
    ['plain text', 'started on port 80\n\tat line 2\n', 'started on port 80\n\tat line 2\n'],
    ['other scripts', 'Größe 治 😀 ⚠️\n', 'Größe 治 😀 ⚠️\n'],
    ['line ends of Windows', 'a\r\nb\r\n', 'a\nb\n'],
    ['no line end', 'password: ', 'password: '],
    ['colours', '\u001b[1;32mok\u001b[0m\n', 'ok\n'],
  ])('stays readable with %s', (_, text, wanted) => {
    expect(shown(text)).toBe(wanted);
    expect(shown(text, 1)).toBe(wanted);
  });

  it.each([
    ['a title', '\u001b]0;evil\u0007', '\\u{1b}]0;evil\\u{7}'],
    ['the clipboard', '\u001b]52;c;ZXZpbA==\u001b\\', '\\u{1b}]52;c;ZXZpbA==\\u{1b}\\'],
    ['a hyperlink', '\u001b]8;;http://e\u0007x', '\\u{1b}]8;;http://e\\u{7}x'],
    ['the cursor', '\u001b[2J\u001b[1;1H', '\\u{1b}[2J\\u{1b}[1;1H'],
    ['an escape built around a colour', '\u001b\u001b[0m[2J', '\\u{1b}[2J'],
    ['an eight-bit escape', '\u009b2J', '\\u{9b}2J'],
    ['a line that is written over', 'evil\rgood', 'evil\ngood'],
    ['backspaces', 'evil\b\b\b\bgood', 'evil\\u{8}\\u{8}\\u{8}\\u{8}good'],
    ['another direction', 'a\u202eb', 'a\\u{202e}b'],
    ['hidden letters', 'a\u{e0041}\u200bb', 'a\\u{e0041}\\u{200b}b'],
    ['an order to a build server', '::set-env name=A::b\n', '\\u{3a}:set-env name=A::b\n'],
    ['another one', '##vso[task.setvariable]x\n', '\\u{23}#vso[task.setvariable]x\n'],
    ['an order built around a colour', ':\u001b[0m:set-env\n', '\\u{3a}:set-env\n'],
  ])('cannot use %s', (_, text, wanted) => {
    expect(shown(text)).toBe(wanted);
    expect(shown(text, 1)).toBe(wanted);
  });

  it('that is no UTF-8 holds no byte that a terminal obeys', () => {
    expect(shown(Uint8Array.from([0x9b, 0x32, 0x4a, 0xff, 0xc3]))).toBe('�2J��');
  });

  it('cannot give an order in parts, however long it waits between them', () => {
    expect(shownSlowly('x\n:', ':set-env\n')).not.toMatch(/^::/m);
    expect(shownSlowly('#', '#vso[a]\n')).not.toContain('##');
    expect(shownSlowly('##vs', 'o[a]\n')).not.toContain('##');
    expect(shownSlowly('\u001b', '[2J')).not.toContain('\u001b');
  });

  it('comes in parts when a line does not end, and is held no longer than that', () => {
    const text = new HarmlessText();
    expect(text.push(Buffer.from('e'.repeat(10_000)))).toHaveLength(10_000);
    expect(text.isHolding).toBe(false);
    expect(text.push(Buffer.from('end'))).toBe('');
    expect(text.flush()).toBe('end');
  });

  it('never holds a control character or an order, whatever comes and however it is cut', () => {
    const alphabet = fc.constantFrom(
      ...['\u001b', '[', ']', '0', 'm', ';', ':', '#', '\r', '\n', '\u009b', 'x', ' ', '\u202e'],
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(alphabet, { maxLength: 8 })),
        fc.boolean(),
        (pieces, isSlow) => {
          const texts = pieces.map((piece) => piece.join(''));
          const out = isSlow ? shownSlowly(...texts) : shown(texts.join(''), 3);
          expect(out).not.toMatch(/(?![\n\t])\p{C}/u);
          expect(out).not.toMatch(/(?:^|\s)::|##\w*\[/);
        },
      ),
    );
  });
});
