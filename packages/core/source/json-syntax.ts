// Files that are named `.json` are held to JSON: YAML would read more into them than other tools.
import { type CanonCode, canonicalize, type InvalidJson } from '../json/index.ts';
import { quote, visible } from '../text/visible.ts';
import type { BundleCode, Fault } from './problem.ts';

const CODES: { readonly [C in CanonCode]: BundleCode } = {
  SUB_CANON_SYNTAX: 'SUB_BUNDLE_SYNTAX',
  SUB_CANON_DUPLICATE_KEY: 'SUB_BUNDLE_DUPLICATE_KEY',
  SUB_CANON_DEPTH: 'SUB_BUNDLE_TOO_DEEP',
  SUB_CANON_NUMBER: 'SUB_BUNDLE_VALUE',
};

const FIXES: { readonly [C in CanonCode]: string } = {
  SUB_CANON_SYNTAX: 'Correct the JSON here.',
  SUB_CANON_DUPLICATE_KEY: 'Remove one of the two.',
  SUB_CANON_DEPTH: 'Flatten it.',
  SUB_CANON_NUMBER: 'Write a smaller number.',
};

/** The first place where a text is not JSON. */
export function jsonFault(text: string): Fault | undefined {
  const read = canonicalize(text);
  if (read.ok) return undefined;
  const { code, offset, message } = read;
  const words = message.replace(
    /^expected each key once, found (.*) again$/,
    'the key $1 is given twice',
  );
  const plain = { code: CODES[code], offset, message: visible(words, 200), fix: FIXES[code] };
  return code === 'SUB_CANON_SYNTAX' ? { ...plain, ...syntaxWords(text, read) } : plain;
}

type SyntaxAdvice = Partial<Pick<Fault, 'offset' | 'message' | 'fix'>>;

/** What a person may have meant at the place where JSON ends. */
function syntaxWords(text: string, { offset, message }: InvalidJson): SyntaxAdvice {
  const rest = text.slice(offset, offset + 80);
  const before = text.slice(0, offset).trimEnd();
  if (rest.trim() === '') return cutOff(message);
  if (before.trim() === '' && !/^[[{"]/.test(rest)) {
    return { message: `${message}: this is no JSON`, fix: 'Write JSON, or name the file `.yaml`.' };
  }
  if (/^[\]}]/.test(rest) && before.endsWith(',')) {
    const closing = quote(rest.charAt(0));
    const last = { offset: before.length - 1, fix: 'Remove the `,`.' };
    return { ...last, message: `JSON has no \`,\` before ${closing}` };
  }
  if (/^(\/[/*]|#)/.test(rest)) {
    const fix = 'Remove it, or write YAML and name the file `.yaml`.';
    return { message: 'JSON has no comments', fix };
  }
  if (rest.startsWith("'")) return { fix: 'Use double quotes.' };
  const word = /^[A-Za-z_$][\w$-]*/.exec(rest)?.[0];
  if (word !== undefined) return wordFix(word, message);
  return { fix: signFix(rest, message) };
}

function cutOff(message: string): SyntaxAdvice {
  const reason = message.replace(/, found.*$/, '');
  const fix = 'Complete the file: a bracket or a quote is still open.';
  return { message: `the file is cut off here: ${reason}`, fix };
}

const JSON_WORDS: ReadonlyMap<string, string> = new Map([
  ...['True', 'False'].map((word) => [word, word.toLowerCase()] as const),
  ...['None', 'undefined'].map((word) => [word, 'null'] as const),
]);

function wordFix(word: string, message: string): SyntaxAdvice {
  if (message.startsWith('expected a key')) return { fix: `Write \`"${visible(word, 60)}"\`.` };
  if (!message.startsWith('expected a value')) return { fix: signFix(word, message) };
  if (/^(NaN|Infinity)$/.test(word)) return { fix: 'Write a number.' };
  return { fix: `Write \`${JSON_WORDS.get(word) ?? `"${visible(word, 60)}"`}\`.` };
}

function signFix(rest: string, message: string): string {
  if (message.startsWith('expected nothing')) return 'Remove what follows.';
  if (message.startsWith('expected `,`')) return 'Add the `,` that is missing.';
  if (message.startsWith('expected `:`')) return 'Add the `:` that is missing.';
  if (message.startsWith('expected an escape for')) return 'Write it as an escape, like `\\n`.';
  if (message.startsWith('expected an escape')) return 'Double the backslash.';
  if (/^expected (a digit|no digit)/.test(message) || /^[+.]/.test(rest)) {
    return 'Write the number without a leading `+`, `.` or `0`.';
  }
  return FIXES.SUB_CANON_SYNTAX;
}
