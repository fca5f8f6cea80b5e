// Edits of a text: each replaces something that stands there exactly once.
import { quote } from '@subluminal/core/visible';
import { decodeUtf8 } from '@subluminal/plane/os';
import type { NextContent } from '../../staging/index.ts';

export interface TextEdit {
  readonly find: string;
  readonly replace: string;
}

export function editText(now: Buffer | undefined, edits: readonly TextEdit[]): NextContent {
  if (now === undefined) return { kind: 'refused', why: 'There is no such file.' };
  if (edits.length === 0) return { kind: 'content', bytes: now };
  let text = now.includes(0) ? undefined : decodeUtf8(now);
  if (text === undefined) return { kind: 'refused', why: 'The file is binary.' };
  for (const { find, replace } of edits) {
    const at = text.indexOf(find);
    if (at === -1) return { kind: 'refused', why: `${quote(find)} does not stand in the file.` };
    if (text.includes(find, at + 1)) {
      return { kind: 'refused', why: `${quote(find)} stands in the file more than once.` };
    }
    text = text.slice(0, at) + replace + text.slice(at + find.length);
  }
  return textContent(text);
}

/** With a zero in it, it would pass for a binary file, of which nobody sees what is in it. */
export function textContent(text: string): NextContent {
  if (text.includes('\0')) return { kind: 'refused', why: 'A text holds no zero characters.' };
  return { kind: 'content', bytes: Buffer.from(text) };
}
