// Why a `when` condition does not compile, in words that name the likely fix.
import { likely, nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';

export interface ConditionFault {
  readonly message: string;
  readonly offset: number;
}
export interface ConditionAdvice {
  readonly message?: string;
  readonly fix: string;
}

const FIELDS = {
  call: ['server_name', 'tool_name', 'args_hash', 'bytes_in', 'risk_class'],
  identity: ['run_id', 'agent_id', 'client', 'env', 'principal', 'workload'],
} as const;
const GENERAL = 'Write CEL over `call`, `identity` and `args`.';

/** What to write instead, by the reason and by what stands at that place. */
export function conditionWords(source: string, fault: ConditionFault): ConditionAdvice {
  return (
    variableWords(source, fault) ??
    keyWords(source, fault) ??
    methodWords(source, fault.message) ??
    signWords(source, fault) ??
    reasonWords(fault.message) ?? { fix: GENERAL }
  );
}

/** Names of other languages and tools for what a condition sees. */
const VARIABLES: { readonly [name: string]: string } = {
  true: 'true',
  false: 'false',
  none: 'null',
  nil: 'null',
  undefined: 'null',
  tool: 'call.tool_name',
  server: 'call.server_name',
  environment: 'identity.env',
  agent: 'identity.agent_id',
  user: 'identity.principal',
  arguments: 'args',
  params: 'args',
  input: 'args',
};

function variableWords(
  source: string,
  { message, offset }: ConditionFault,
): ConditionAdvice | undefined {
  const name = /^unknown variable: (.+)$/.exec(message)?.[1];
  if (name === undefined) return undefined;
  const words = { message: `unknown variable ${quote(name)}` };
  const folded = name.toLowerCase();
  const known = Object.hasOwn(VARIABLES, folded) ? VARIABLES[folded] : undefined;
  const meant = known ?? qualified(name);
  if (meant !== undefined) return { ...words, fix: `Write \`${meant}\`.` };
  const isBare = !/^\s*[.[(]/.test(source.slice(offset + name.length));
  const quoted = isBare ? 'Put quotes around it if it is text; else use' : 'Use';
  return { ...words, fix: `${quoted} \`call\`, \`identity\` or \`args\`.` };
}

/** A variable by a name that is near, or a field without its variable. */
function qualified(name: string): string | undefined {
  for (const [variable, fields] of Object.entries(FIELDS)) {
    if (fields.some((field) => field === name)) return `${variable}.${name}`;
  }
  const variable = nearest(name, ['call', 'identity', 'args']);
  if (variable !== undefined) return variable;
  for (const [owner, fields] of Object.entries(FIELDS)) {
    const field = nearest(name, fields);
    if (field !== undefined) return `${owner}.${field}`;
  }
  return undefined;
}

function keyWords(
  source: string,
  { message, offset }: ConditionFault,
): ConditionAdvice | undefined {
  const key = /^no such key: (.+)$/.exec(message)?.[1];
  if (key === undefined) return undefined;
  const before = /(call|identity)\s*\.\s*$/.exec(source.slice(0, offset))?.[1];
  const owner = before ?? /^(call|identity)\b/.exec(source.slice(offset))?.[1];
  if (owner !== 'call' && owner !== 'identity') return undefined;
  const fields: readonly string[] = FIELDS[owner];
  const meant = likely(key, fields);
  const words = { message: `\`${owner}\` has no ${quote(key)}` };
  if (meant !== undefined) return { ...words, fix: `Write \`${owner}.${meant}\`.` };
  return { ...words, fix: `Use one of its fields: ${fields.join(', ')}.` };
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

function signWords(
  source: string,
  { message, offset }: ConditionFault,
): ConditionAdvice | undefined {
  if (!/^unexpected (character|token)/.test(message)) return undefined;
  const rest = source.slice(offset, offset + 80);
  if (rest.trim() === '') {
    return { message: 'it ends too early', fix: 'Complete the condition.' };
  }
  const before = source.slice(Math.max(0, offset - 80), offset);
  const shown = /^(\w+|[^\w\s])/u.exec(rest)?.[1] ?? rest.charAt(0);
  const found = SIGNS.find(([left, right]) => left.test(before) && right.test(rest));
  return { message: `unexpected ${quote(shown)}`, fix: found?.[2] ?? GENERAL };
}

const CLOSING: { readonly [token: string]: string } = { RPAREN: ')', RBRACKET: ']', RBRACE: '}' };

/** Reasons that say all without a look at the source. */
function reasonWords(message: string): ConditionAdvice | undefined {
  const token = /^expected (RPAREN|RBRACKET|RBRACE), got EOF/.exec(message)?.[1];
  const close = token === undefined ? undefined : CLOSING[token];
  if (close !== undefined) {
    return { message: `a \`${close}\` is missing at the end`, fix: `Add the \`${close}\`.` };
  }
  if (message.startsWith('unterminated')) return { fix: 'Close the quote.' };
  if (message.startsWith('reserved identifier: if')) return { fix: 'Write `test ? one : other`.' };
  if (message.startsWith("cannot index type 'string'")) {
    return { fix: 'A string has no fields; for its length write `.size()`.' };
  }
  if (message.startsWith('`matches` needs')) {
    return { fix: "Write the pattern out, like `x.matches('^a')`." };
  }
  if (message.startsWith('no such overload: string in string')) {
    return { fix: "Write a list behind `in`, or `x.contains('…')`." };
  }
  if (/^no such overload: \S+ (==|!=|<|>|<=|>=) /.test(message)) {
    return { fix: 'Compare values of the same type; text needs quotes, numbers have none.' };
  }
  if (/^(missing|invalid|unexpected|error|bad) .*: `/.test(message)) {
    return { fix: 'Write the pattern in RE2 syntax.' };
  }
  if (message.startsWith('has() ')) return { fix: 'Name a field, like `has(args.path)`.' };
  if (message.startsWith('it gives ')) {
    return { fix: 'Compare it with something, so that it gives true or false.' };
  }
  return undefined;
}

// Methods that CEL does not have, or not for this type: the one that was meant.

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
function methodWords(source: string, reason: string): MethodWords | undefined {
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
