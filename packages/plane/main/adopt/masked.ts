// A config as it may be shown: its form and the values that are about to change, nothing else. What
// stands beside them is where clients keep their secrets.
import type { Format } from '../../clients/types.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

interface MaskOptions {
  readonly format: Format;
  /** Shown as they are, but for what `redact` finds in them; sorted, apart from each other. */
  readonly shown: readonly Range[];
  /** Strings that are no secret: the names of servers. */
  readonly names: ReadonlySet<string>;
  readonly redact: (text: string) => string;
}

/** Comments are matched as well, so that a quote in one begins no string. */
const JSON_TOKEN = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g;
const TOML_TOKEN =
  /"""(?:[^\\]|\\[^])*?(?:"""(?!")|$)|'''[^]*?(?:'''(?!')|$)|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*/g;
const JSON_KEY = /^\s*:/;
/** A key, or a part of one. */
const TOML_KEY = /^[ \t]*[=.]/;

/** Every string that is no key, and every comment that looks like one, becomes an ellipsis. */
function masked(text: string, options: MaskOptions): string {
  const { shown, redact } = options;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of shown) {
    parts.push(maskedPart(text, { start: at, end: start }, options));
    parts.push(redact(text.slice(start, end)));
    at = end;
  }
  parts.push(maskedPart(text, { start: at, end: text.length }, options));
  return parts.join('');
}

function maskedPart(text: string, { start, end }: Range, options: MaskOptions): string {
  const { format, names, redact } = options;
  const isToml = format === 'toml';
  const part = text.slice(start, end);
  return part.replace(isToml ? TOML_TOKEN : JSON_TOKEN, (token, offset: number) => {
    if (token.startsWith('#') || token.startsWith('/')) return maskedComment(token, redact);
    const behind = text.slice(start + offset + token.length, start + offset + token.length + 64);
    if ((isToml ? TOML_KEY : JSON_KEY).test(behind)) return token;
    if (names.has(token.slice(1, -1))) return token;
    // As many lines as before, or a diff would show lines that nobody changes.
    return `"…"${'\n'.repeat(token.split('\n').length - 1)}`;
  });
}

/** An entry that was commented out has its secrets in it still. */
function maskedComment(token: string, redact: (text: string) => string): string {
  const quoted = token.replace(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/g, (word: string, at: number) =>
    /^\s*[:=]/.test(token.slice(at + word.length)) ? word : '"…"',
  );
  return redact(quoted);
}

export type { MaskOptions, Range };
export { masked };
