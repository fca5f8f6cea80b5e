// The characters that mean something to a shell, and where a run of others ends.

/** Ends a word. */
export const END = 1;
/** A quote, an escape or a value, which makes more of a word than stands there. */
export const QUOTING = 2;
/** The same between double quotes. */
export const INSIDE = 4;
/** Opens a list in braces. */
export const OPEN = 8;
/** Any part of such a list. */
export const LIST = 16;

const SIGNS = new Uint8Array(128);
for (const char of ' \t\n;&|()<>') SIGNS[char.charCodeAt(0)] = END;
for (const char of '\\"`$') SIGNS[char.charCodeAt(0)] = QUOTING | INSIDE;
for (const char of "'") SIGNS[char.charCodeAt(0)] = QUOTING;
for (const char of ',}') SIGNS[char.charCodeAt(0)] = LIST;
for (const char of '{') SIGNS[char.charCodeAt(0)] = LIST | OPEN;

/** What the character there is, of those above; nothing at the end, or where it has no meaning. */
export function signAt(text: string, at: number): number {
  return SIGNS[text.charCodeAt(at)] ?? 0;
}

/** Where the first of these signs stands, or the end. */
export function endOfRun(text: string, from: number, signs: number): number {
  let at = from;
  while (at < text.length && (signAt(text, at) & signs) === 0) at++;
  return at;
}

export function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Where a here-document ends, and where the line behind its last one begins. */
export function endOfHeredoc(
  text: string,
  from: number,
  { end, isIndented }: { readonly end: string; readonly isIndented: boolean },
): { readonly until: number; readonly next: number } {
  let at = from;
  while (at < text.length) {
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd);
    if ((isIndented ? line.replace(/^\t+/, '') : line) === end) {
      return { until: at, next: lineEnd + 1 };
    }
    at = lineEnd + 1;
  }
  return { until: text.length, next: Math.max(at, from) };
}

/** Whether a shell that puts lines together sees the end before we do. */
export function mayEndBefore(text: string, end: string): boolean {
  if (!text.includes('\\\n')) return false;
  const lines = text.replaceAll('\\\n', '').split('\n');
  return lines.some((line) => line.replace(/^\t+/, '') === end);
}

/** The sign of a redirection, or of a process substitution. */
export function redirectionAt(text: string, at: number): string {
  const [sign = ''] =
    /^(?:<<<|<<-?|[<>]\(|&>>|&>|<>|>>|>\||[<>]&|[<>])/.exec(text.slice(at, at + 3)) ?? [];
  return sign;
}

/** Where a quote ends that a backslash takes the meaning of, or the end. */
export function endOfQuote(text: string, from: number, quote: string): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** Where the brace ends that was opened before. */
export function endOfBrace(text: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) break;
  }
  return at;
}
