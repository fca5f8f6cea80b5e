// Long texts in messages that a channel takes, and hostile text without what hides.
import { HIDDEN, harmless } from '@subluminal/core/visible';

export interface SplitText {
  /** Escaped, each within the length. */
  readonly parts: readonly string[];
  /** Characters that had no place. */
  readonly leftOut: number;
}

interface SplitOptions {
  readonly lengthMax: number;
  readonly partsMax: number;
  /** Changes characters one by one. */
  readonly escape: (text: string) => string;
}

const HIDDEN_BUT_LINES = new RegExp(`(?!\n)${HIDDEN}`, 'gu');

/** For answers: emoji are made of invisible characters, so these go without a trace. */
export function withoutHidden(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\t', '  ').replace(HIDDEN_BUT_LINES, '');
}

/** For what a person decides on: everything is seen. */
export function harmlessLines(text: string): readonly string[] {
  return text.split('\n').map(harmless);
}

/** Breaks between lines where it can, else between words, else anywhere but inside a character. */
export function splitText(text: string, { lengthMax, partsMax, escape }: SplitOptions): SplitText {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest !== '' && parts.length < partsMax) {
    const fits = fittingLength(rest, lengthMax, escape);
    const cut = fits === rest.length ? fits : breakBefore(rest, fits);
    parts.push(escape(rest.slice(0, cut).trimEnd()));
    rest = rest.slice(cut).replace(/^(?:\n| +)/, '');
  }
  return { parts, leftOut: rest.length };
}

function fittingLength(text: string, lengthMax: number, escape: (text: string) => string): number {
  let used = 0;
  let at = 0;
  for (const char of text) {
    used += escape(char).length;
    if (used > lengthMax) return at;
    at += char.length;
  }
  return at;
}

function breakBefore(text: string, end: number): number {
  const line = text.lastIndexOf('\n', end);
  if (line > end / 2) return line;
  const word = text.lastIndexOf(' ', end);
  return word > end / 2 ? word : end;
}
