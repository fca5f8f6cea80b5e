// Methods that CEL does not have, or not for this type: the one that was meant.
import { nearest } from '../problem.ts';
import { quote } from './quote.ts';

interface MethodWords {
  readonly message: string;
  readonly fix: string;
}

/** What other languages call them, in lower case and without `_`. */
const SYNONYMS: { readonly [name: string]: string } = {
  includes: 'contains',
  hasprefix: 'startsWith',
  hassuffix: 'endsWith',
  tolowercase: 'lowerAscii',
  tolower: 'lowerAscii',
  lower: 'lowerAscii',
  lowercase: 'lowerAscii',
  touppercase: 'upperAscii',
  toupper: 'upperAscii',
  upper: 'upperAscii',
  uppercase: 'upperAscii',
  length: 'size',
  len: 'size',
  count: 'size',
  match: 'matches',
  test: 'matches',
  regex: 'matches',
  strip: 'trim',
  substr: 'substring',
  slice: 'substring',
  any: 'exists',
  some: 'exists',
  every: 'all',
};
/** Methods that people try to call as functions. */
const TEXT_METHODS: readonly string[] = [
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'size',
  'lowerAscii',
  'upperAscii',
  'trim',
  'substring',
  'split',
];
/** Methods that take one text. */
const WITH_TEXT: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'contains', 'matches']);

/** What to write instead of a call that does not exist, or not for these types. */
export function methodWords(source: string, reason: string): MethodWords | undefined {
  return unavailable(source, reason) ?? unfitting(reason);
}

/** A name that CEL does not have, or that is not open to conditions. */
function unavailable(source: string, reason: string): MethodWords | undefined {
  const found = /^`(\w+)` is not available; there are (.+)$/.exec(reason);
  if (found === null) return undefined;
  const [, name = '', list = ''] = found;
  const known = list.split(', ');
  if (!known.includes('matches')) return functionWords(source, name, known);
  const message = `there is no method ${quote(name)}`;
  const meant = meantMethod(name, known);
  const before = source.slice(0, Math.max(0, source.indexOf(`${name}(`))).trimEnd();
  if (meant === 'contains' && /\brisk_class\s*\.$/.test(before)) return { message, fix: IN_LIST };
  if (/\bargs\s*\.$/.test(before) && /^has/i.test(name)) return { message, fix: HAS_KEY };
  if (meant === undefined) return { message, fix: `Use one of ${list}.` };
  return { message, fix: `Write \`.${written(meant)}\`.` };
}

const IN_LIST = 'Write `value in list`.';
const HAS_KEY = 'Write `has(args.key)`, or `"key" in args`.';

/** Most functions of other languages are methods here. */
function functionWords(source: string, name: string, known: readonly string[]): MethodWords {
  const message = `there is no function ${quote(name)}`;
  if (/^not$/i.test(name)) return { message, fix: 'Write `!` instead of `not`.' };
  if (/^(exists|defined|isset)$/i.test(name)) return { message, fix: 'Write `has(args.key)`.' };
  const meant = meantMethod(name, TEXT_METHODS) ?? nearest(name, known);
  if (meant === undefined) return { message, fix: `Use one of ${known.join(', ')}.` };
  if (known.includes(meant)) return { message, fix: `Write \`${meant}(…)\`.` };
  const at = source.indexOf(`${name}(`);
  const argument = /^\(\s*([A-Za-z_][\w.]{0,60})\s*[,)]/.exec(source.slice(at + name.length))?.[1];
  const subject = at === -1 ? undefined : argument;
  return { message, fix: `Write \`${subject ?? 'x'}.${written(meant)}\`.` };
}

/** A method that exists, but not for what it is called on or with. */
function unfitting(reason: string): MethodWords | undefined {
  const found = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(reason);
  if (found === null) return undefined;
  const [, receiver, name = '', types = ''] = found;
  const taken = quote(`${name}(${types})`);
  if (receiver === undefined) return { message: `there is no ${taken}`, fix: otherTypes(name) };
  const type = receiver.replace(/<.*/, '');
  const message = `${type === 'dyn' ? 'a value' : `a ${type}`} has no ${taken}`;
  if (type === 'list' && name === 'contains') return { message, fix: IN_LIST };
  if (type === 'map' && name === 'contains') return { message, fix: HAS_KEY };
  if (!WITH_TEXT.has(name)) return { message, fix: otherTypes(name) };
  return { message, fix: `Write \`.${written(name)}\`, on a string and with one string.` };
}

function otherTypes(name: string): string {
  return `Give ${quote(name)} values of the types that it takes.`;
}

function meantMethod(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return name;
  const folded = name.toLowerCase().replaceAll('_', '');
  const synonym = Object.hasOwn(SYNONYMS, folded) ? SYNONYMS[folded] : undefined;
  return synonym !== undefined && known.includes(synonym) ? synonym : nearest(name, known);
}

function written(method: string): string {
  if (WITH_TEXT.has(method)) return `${method}('…')`;
  return /^(size|trim|lowerAscii|upperAscii)$/.test(method) ? `${method}()` : `${method}(…)`;
}
