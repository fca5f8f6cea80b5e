// Why a `when` condition does not compile, in words that name the likely fix.
import { likely, nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';

export interface ConditionFault {
  readonly message: string;
  readonly offset: number;
}
interface ConditionAdvice {
  readonly message?: string;
  readonly fix: string;
}
type Explain = (
  found: readonly string[],
  source: string,
  offset: number,
) => ConditionAdvice | undefined;

const GENERAL = 'Write CEL over `call`, `identity` and `args`.';
const IN_LIST = 'Write `value in list`.';
const HAS_KEY = 'Write `has(args.key)`, or `"key" in args`.';

/** The reasons of the engine, and what to write instead; the first entry with advice holds. */
const REASONS: readonly (readonly [reason: RegExp, fix: string | Explain])[] = [
  [/^unknown variable: (.+)$/, unknownVariable],
  [/^no such key: (.+)$/, unknownKey],
  [/^`(\w+)` is not available; there are (.+)$/, unavailableCall],
  [/^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/, unfittingCall],
  [/^unexpected (?:character|token)/, unexpectedSign],
  [/^expected (RPAREN|RBRACKET|RBRACE), got EOF/, missingEnd],
  [/^unterminated/, 'Close the quote.'],
  [/^reserved identifier: if/, 'Write `test ? one : other`.'],
  [/^cannot index type 'string'/, 'A string has no fields; for its length write `.size()`.'],
  [/^`matches` needs/, "Write the pattern out, like `x.matches('^a')`."],
  [/^no such overload: string in string/, "Write a list behind `in`, or `x.contains('…')`."],
  [
    /^no such overload: \S+ (==|!=|<|>|<=|>=) /,
    'Compare values of the same type; text needs quotes, numbers have none.',
  ],
  [/^(missing|invalid|unexpected|error|bad) .*: `/, 'Write the pattern in RE2 syntax.'],
  [/^has\(\) /, 'Name a field, like `has(args.path)`.'],
  [/^it gives /, 'Compare it with something, so that it gives true or false.'],
];

/** What to write instead, by the reason and by what stands at that place. */
export function conditionWords(source: string, fault: ConditionFault): ConditionAdvice {
  for (const [reason, fix] of REASONS) {
    const found = reason.exec(fault.message);
    if (found === null) continue;
    const advice = typeof fix === 'string' ? { fix } : fix(found, source, fault.offset);
    if (advice !== undefined) return advice;
  }
  return { fix: GENERAL };
}

const FIELDS: { readonly [variable: string]: readonly string[] } = {
  call: ['server_name', 'tool_name', 'args_hash', 'bytes_in', 'risk_class'],
  command: ['programs', 'reads', 'writes', 'hosts', 'paths', 'opaque'],
  identity: ['run_id', 'agent_id', 'client', 'env', 'principal', 'workload'],
};

/** What other languages and tools write, in lower case, by what a condition writes. */
type Synonyms = { readonly [meant: string]: readonly string[] };

const VARIABLES: Synonyms = {
  true: ['true'],
  false: ['false'],
  null: ['none', 'nil', 'undefined'],
  'call.tool_name': ['tool'],
  'call.server_name': ['server'],
  'identity.env': ['environment'],
  'identity.agent_id': ['agent'],
  'identity.principal': ['user'],
  args: ['arguments', 'params', 'input'],
};

function synonymIn(synonyms: Synonyms, word: string): string | undefined {
  return Object.entries(synonyms).find(([, words]) => words.includes(word))?.[0];
}

function unknownVariable([, name = '']: readonly string[], source: string, offset: number) {
  const message = `unknown variable ${quote(name)}`;
  const meant = synonymIn(VARIABLES, name.toLowerCase()) ?? qualified(name);
  if (meant !== undefined) return { message, fix: `Write \`${meant}\`.` };
  const isBare = !/^\s*[.[(]/.test(source.slice(offset + name.length));
  const quoted = isBare ? 'Put quotes around it if it is text; else use' : 'Use';
  return { message, fix: `${quoted} \`call\`, \`identity\` or \`args\`.` };
}

/** A variable by a name that is near, or a field without its variable. */
function qualified(name: string): string | undefined {
  const fields = Object.entries(FIELDS).flatMap(([owner, names]) =>
    names.map((field) => `${owner}.${field}`),
  );
  const fieldNamed = (field: string | undefined) =>
    fields.find((full) => full.split('.')[1] === field);
  const near = Object.values(FIELDS).map((names) => nearest(name, names));
  return (
    fieldNamed(name) ??
    nearest(name, ['call', 'identity', 'args']) ??
    fieldNamed(near.find((field) => field !== undefined))
  );
}

function unknownKey([, key = '']: readonly string[], source: string, offset: number) {
  const before = /(call|identity)\s*\.\s*$/.exec(source.slice(0, offset))?.[1];
  const owner = before ?? /^(call|identity)\b/.exec(source.slice(offset))?.[1];
  const fields = owner === undefined ? undefined : FIELDS[owner];
  if (fields === undefined) return undefined;
  const meant = likely(key, fields);
  const message = `\`${owner}\` has no ${quote(key)}`;
  if (meant !== undefined) return { message, fix: `Write \`${owner}.${meant}\`.` };
  return { message, fix: `Use one of its fields: ${fields.join(', ')}.` };
}

/** Operators of other languages, by what stands at the place; the first that fits holds. */
const SIGNS: readonly (readonly [before: RegExp, at: RegExp, fix: string])[] = [
  [/!=$/, /^=/, 'Write `!=`.'],
  [/==$/, /^=/, 'Write `==`.'],
  [/<$/, /^>/, 'Write `!=`.'],
  [/$/, /^(=~|~=?)/, "Write `x.matches('…')`."],
  [/$/, /^=/, 'Write `==` to compare.'],
  [/$/, /^&/, 'Write `&&`.'],
  [/$/, /^\|/, 'Write `||`.'],
  [/$/, /^and\b/i, 'Write `&&` instead of `and`.'],
  [/$/, /^or\b/i, 'Write `||` instead of `or`.'],
  [/\bnot\s*$/i, /^/, 'Write `!` instead of `not`.'],
  [/$/, /^not\s+in\b/i, 'Write `!(x in y)`.'],
  [/$/, /^(is|eq|equals)\b/i, 'Write `==`.'],
  [/$/, /^(like|regex|matches)\b/i, "Write `x.matches('…')`."],
  [/$/, /^(contains|startsWith|endsWith)\b/, "Write it as a method: `x.contains('…')`."],
  [/$/, /^[“”‘’„«»]/, 'Use straight quotes.'],
  [/$/, /^;/, 'Remove the `;`.'],
  [/$/, /^\)/, 'Remove the `)`, or add its `(`.'],
];

function unexpectedSign(_found: readonly string[], source: string, offset: number) {
  const rest = source.slice(offset, offset + 80);
  if (rest.trim() === '') return { message: 'it ends too early', fix: 'Complete the condition.' };
  const before = source.slice(Math.max(0, offset - 80), offset);
  const shown = /^(\w+|[^\w\s])/u.exec(rest)?.[1] ?? rest.charAt(0);
  const found = SIGNS.find(([left, right]) => left.test(before) && right.test(rest));
  return { message: `unexpected ${quote(shown)}`, fix: found?.[2] ?? GENERAL };
}

function missingEnd([, token]: readonly string[]) {
  const close = token === 'RPAREN' ? ')' : token === 'RBRACKET' ? ']' : '}';
  return { message: `a \`${close}\` is missing at the end`, fix: `Add the \`${close}\`.` };
}

/** Methods that people try to call as functions, as they are written. */
const METHODS: { readonly [name: string]: string } = {
  startsWith: "startsWith('…')",
  endsWith: "endsWith('…')",
  contains: "contains('…')",
  matches: "matches('…')",
  size: 'size()',
  lowerAscii: 'lowerAscii()',
  upperAscii: 'upperAscii()',
  trim: 'trim()',
  substring: 'substring(…)',
  split: 'split(…)',
};
/** What other languages call them, without `_`. */
const METHOD_SYNONYMS: Synonyms = {
  contains: ['includes'],
  startsWith: ['hasprefix'],
  endsWith: ['hassuffix'],
  lowerAscii: ['tolowercase', 'tolower', 'lower', 'lowercase'],
  upperAscii: ['touppercase', 'toupper', 'upper', 'uppercase'],
  size: ['length', 'len', 'count'],
  matches: ['match', 'test', 'regex'],
  trim: ['strip'],
  substring: ['substr', 'slice'],
  exists: ['any', 'some'],
  all: ['every'],
};

/** A name that CEL does not have, or that is not open to conditions. */
function unavailableCall([, name = '', list = '']: readonly string[], source: string) {
  const known = list.split(', ');
  if (!known.includes('matches')) return unavailableFunction(source, name, known);
  const message = `there is no method ${quote(name)}`;
  const meant = meantMethod(name, known);
  const before = source.slice(0, Math.max(0, source.indexOf(`${name}(`))).trimEnd();
  if (meant === 'contains' && /\brisk_class\s*\.$/.test(before)) return { message, fix: IN_LIST };
  if (/\bargs\s*\.$/.test(before) && /^has/i.test(name)) return { message, fix: HAS_KEY };
  if (meant === undefined) return { message, fix: `Use one of ${list}.` };
  return { message, fix: `Write \`.${methodText(meant)}\`.` };
}

/** Most functions of other languages are methods here. */
function unavailableFunction(source: string, name: string, known: readonly string[]) {
  const message = `there is no function ${quote(name)}`;
  if (/^not$/i.test(name)) return { message, fix: 'Write `!` instead of `not`.' };
  if (/^(exists|defined|isset)$/i.test(name)) return { message, fix: 'Write `has(args.key)`.' };
  const meant = meantMethod(name, Object.keys(METHODS)) ?? nearest(name, known);
  if (meant === undefined) return { message, fix: `Use one of ${known.join(', ')}.` };
  if (known.includes(meant)) return { message, fix: `Write \`${meant}(…)\`.` };
  const call = source.slice(Math.max(0, source.indexOf(`${name}(`)) + name.length);
  const subject = /^\(\s*([A-Za-z_][\w.]{0,60})\s*[,)]/.exec(call)?.[1];
  return { message, fix: `Write \`${subject ?? 'x'}.${methodText(meant)}\`.` };
}

/** A method that exists, but not for what it is called on or with. */
function unfittingCall([, receiver, name = '', types = '']: readonly string[]) {
  const taken = quote(`${name}(${types})`);
  const otherTypes = `Give ${quote(name)} values of the types that it takes.`;
  if (receiver === undefined) return { message: `there is no ${taken}`, fix: otherTypes };
  const type = receiver.replace(/<.*/, '');
  const message = `${type === 'dyn' ? 'a value' : `a ${type}`} has no ${taken}`;
  if (type === 'list' && name === 'contains') return { message, fix: IN_LIST };
  if (type === 'map' && name === 'contains') return { message, fix: HAS_KEY };
  const written = methodText(name);
  if (!written.endsWith("('…')")) return { message, fix: otherTypes };
  return { message, fix: `Write \`.${written}\`, on a string and with one string.` };
}

function meantMethod(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return name;
  const synonym = synonymIn(METHOD_SYNONYMS, name.toLowerCase().replaceAll('_', ''));
  return synonym !== undefined && known.includes(synonym) ? synonym : nearest(name, known);
}

function methodText(method: string): string {
  return Object.hasOwn(METHODS, method) ? (METHODS[method] ?? method) : `${method}(…)`;
}
