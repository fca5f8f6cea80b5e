// The search text of the page: `tool:git_* decision:refused path:.env since:2h "free text"`. Its keys are the filters
// of `sub query`, and what it means is a query of `/calls`. All terms apply; there is no negation.
import { momentMs } from './moment.ts';
import {
  type ApiCallFilter,
  ARG_LENGTH_MAX,
  ARGS_MAX,
  CALL_DECISION_FILTER,
  CALL_KIND_FILTER,
  CALL_STATUS_FILTER,
  PATH_LENGTH_MAX,
  TEXT_LENGTH_MAX,
} from './record-queries.ts';

interface SearchWord {
  /** What a person writes, in either case. */
  readonly word: string;
  readonly value: string;
  readonly description: string;
}

interface SearchKey {
  readonly field: keyof ApiCallFilter;
  readonly description: string;
  /** The values there are; any other is a problem. */
  readonly words?: readonly SearchWord[];
  /** What a value looks like, where there are no words. */
  readonly example: string;
}

const DECISION_WORDS: readonly SearchWord[] = [
  { word: 'allow', value: 'ALLOW', description: 'It was forwarded' },
  { word: 'hint', value: 'REJECT_WITH_HINT', description: 'It was refused with a hint' },
  { word: 'ask', value: 'ASKED', description: 'A person was asked, or is' },
  { word: 'throttle', value: 'THROTTLE', description: 'It was told to wait' },
  { word: 'block', value: 'BLOCK', description: 'It was refused' },
  { word: 'terminate', value: 'TERMINATE_RUN', description: 'It ended the run' },
  { word: 'refused', value: 'REFUSED', description: 'Anything except allow' },
];

const STATUS_WORDS: readonly SearchWord[] = [
  { word: 'ok', value: 'OK', description: 'It ended well' },
  { word: 'error', value: 'ERROR', description: 'It failed, or was refused' },
  { word: 'timeout', value: 'TIMEOUT', description: 'It took too long' },
  { word: 'cancelled', value: 'CANCELLED', description: 'The agent gave it up' },
  { word: 'lost', value: 'LOST', description: 'Its process was killed' },
  { word: 'failed', value: 'FAILED', description: 'Any end except ok' },
  { word: 'pending', value: 'PENDING', description: 'It has not ended' },
];

const KIND_WORDS: readonly SearchWord[] = [
  { word: 'tool_call', value: 'tool_call', description: 'A call of a tool' },
  { word: 'turn', value: 'turn', description: 'A call of a model' },
];

/** The filters of `sub query`, without their dashes; a test holds the two together. */
export const CALL_SEARCH_KEYS = {
  tool: { field: 'tool_name', description: 'The tool; may be a glob', example: 'git_*' },
  server: { field: 'server_name', description: 'The server; may be a glob', example: 'github' },
  decision: {
    field: 'decision',
    description: 'What was decided',
    words: DECISION_WORDS,
    example: 'refused',
  },
  status: { field: 'status', description: 'How it ended', words: STATUS_WORDS, example: 'failed' },
  path: {
    field: 'path',
    description: 'A file that the arguments name, or a folder above it',
    example: '.env',
  },
  arg: {
    field: 'arg',
    description: 'An argument and a glob for its value; may be repeated',
    example: 'branch=release/*',
  },
  rule: { field: 'rule_id', description: 'The rule that decided', example: 'no-env' },
  run: { field: 'run_id', description: 'The run; last is the newest', example: 'last' },
  agent: { field: 'agent_id', description: 'The agent', example: 'fixer' },
  principal: {
    field: 'principal',
    description: 'Who started the run; may be a glob',
    example: 'ci:*',
  },
  'approved-by': {
    field: 'approved_by',
    description: 'Who approved it; may be a glob',
    example: 'ada',
  },
  kind: { field: 'kind', description: 'Tools or models', words: KIND_WORDS, example: 'turn' },
  provider: { field: 'provider', description: 'The provider of a model', example: 'anthropic' },
  model: { field: 'model', description: 'The model', example: 'claude-sonnet-4-5' },
  since: { field: 'from_ms', description: 'From this time on, or so long ago', example: '2h' },
  until: { field: 'to_ms', description: 'Before this time', example: '2026-01-31' },
  'args-hash': { field: 'args_hash', description: 'The hash of its arguments', example: '44136f…' },
  text: {
    field: 'text',
    description: 'Part of a name, a reason, an error or a preview',
    example: '"not found"',
  },
} as const satisfies { readonly [key: string]: SearchKey };

export type CallSearchKey = keyof typeof CALL_SEARCH_KEYS;

/** One filter, and where it stands in the text. */
export interface SearchTerm {
  readonly key: CallSearchKey;
  /** As it was meant, without quotation marks. */
  readonly value: string;
  readonly from: number;
  /** Where its value begins, behind the colon; `from` for free text. */
  readonly valueFrom: number;
  /** Behind its last character. */
  readonly to: number;
}

export interface SearchProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** A text with a problem means nothing: a misspelt filter must not show everything. */
export type CallSearch =
  | { readonly kind: 'query'; readonly query: ApiCallFilter; readonly terms: readonly SearchTerm[] }
  | {
      readonly kind: 'problems';
      readonly problems: readonly SearchProblem[];
      /** Those that could be read. */
      readonly terms: readonly SearchTerm[];
    };

const SEARCH_LENGTH_MAX = 16_384;
const NAME_LENGTH_MAX = 1_024;
const SHA256 = /^[0-9a-f]{64}$/i;
const KEYED = /([-!]?)([a-z][a-z-]*):/iy;
const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT']);

/** `nowMs` is what `since:2h` counts from. */
export function parseCallSearch(text: string, nowMs: number): CallSearch {
  if (text.length > SEARCH_LENGTH_MAX) {
    const message = `A search has at most ${SEARCH_LENGTH_MAX} characters.`;
    return { kind: 'problems', problems: [{ from: 0, to: text.length, message }], terms: [] };
  }
  const { terms, problems } = readTerms(text);
  const fields: { [field: string]: string | number | string[] } = {};
  for (const term of terms) {
    const message = addTerm(fields, term, nowMs);
    if (message !== undefined) problems.push({ from: term.from, to: term.to, message });
  }
  const until = terms.find(({ key }) => key === 'until');
  if (until !== undefined && Number(fields['to_ms']) <= Number(fields['from_ms'])) {
    problems.push({ from: until.from, to: until.to, message: 'until is not after since.' });
  }
  if (problems.length > 0) {
    return { kind: 'problems', problems: problems.toSorted((a, b) => a.from - b.from), terms };
  }
  return { kind: 'query', query: fields, terms };
}

/** The text of one filter, quoted where it must be. */
export function searchTermText(key: CallSearchKey, value: string): string {
  const isPlain = value !== '' && !/[\s"]/.test(value);
  const written = isPlain ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  return key === 'text' ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `${key}:${written}`;
}

/** A name that is meant as it is, for filters that take globs. */
export function exactName(name: string): string {
  return name.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`);
}

interface ReadTerms {
  readonly terms: SearchTerm[];
  readonly problems: SearchProblem[];
}

/** Splits the text; words side by side are one text to look for. */
function readTerms(text: string): ReadTerms {
  const terms: SearchTerm[] = [];
  const problems: SearchProblem[] = [];
  let isInWords = false;
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    KEYED.lastIndex = at;
    const [prefix = '', sign = '', name = ''] = KEYED.exec(text) ?? [];
    const valueFrom = at + prefix.length;
    const { value, to, isClosed } = readValue(text, valueFrom);
    const raw = text.slice(at, to);
    const problem = termProblem({ name, sign, value, raw, isClosed, isKeyed: prefix !== '' });
    if (problem !== undefined) problems.push({ from: at, to, message: problem });
    else if (prefix !== '') {
      const key = keyNamed(name);
      if (key !== undefined) terms.push({ key, value, from: at, valueFrom, to });
    } else {
      const last = terms.at(-1);
      const isQuoted = text.charAt(at) === '"';
      if (isInWords && !isQuoted && last !== undefined) {
        terms[terms.length - 1] = { ...last, value: `${last.value} ${value}`, to };
      } else terms.push({ key: 'text', value, from: at, valueFrom: at, to });
    }
    isInWords = prefix === '' && problem === undefined && text.charAt(at) !== '"';
    at = to;
  }
  return { terms, problems };
}

/** Up to the next blank outside of quotation marks. In them, `\"` and `\\` are `"` and `\`. */
function readValue(text: string, from: number) {
  let value = '';
  let isQuoted = false;
  let at = from;
  for (; at < text.length; at++) {
    const sign = text.charAt(at);
    if (!isQuoted && /\s/.test(sign)) break;
    if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted && sign === '\\' && /["\\]/.test(text.charAt(at + 1))) {
      at++;
      value += text.charAt(at);
    } else value += sign;
  }
  return { value, to: at, isClosed: !isQuoted };
}

interface RawTerm {
  readonly isKeyed: boolean;
  readonly name: string;
  readonly sign: string;
  readonly value: string;
  /** With its quotation marks. */
  readonly raw: string;
  readonly isClosed: boolean;
}

/** What is wrong with a term before its value is looked at. */
function termProblem(term: RawTerm): string | undefined {
  const { isKeyed, name, sign, value, raw, isClosed } = term;
  if (!isClosed) return 'A quotation mark is not closed.';
  if (!isKeyed) {
    if (value === '') return 'There is nothing between the quotation marks.';
    return OPERATORS.has(raw)
      ? `${raw} is not supported: all filters apply. Put it in quotation marks to search for it.`
      : undefined;
  }
  const key = keyNamed(name);
  if (key === undefined) {
    const keys = Object.keys(CALL_SEARCH_KEYS).join(', ');
    return `There is no filter ${name}; there are ${keys}. Put it in quotation marks to search for it.`;
  }
  if (sign !== '') return `Negation is not supported: ${key} can only be asked for.`;
  return value === '' ? `Give ${key} a value, like ${exampleOf(key)}.` : undefined;
}

function keyNamed(name: string): CallSearchKey | undefined {
  const lower = name.toLowerCase();
  return SEARCH_KEYS.find((key) => key === lower);
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The keys of the object itself.
const SEARCH_KEYS = Object.keys(CALL_SEARCH_KEYS) as readonly CallSearchKey[];

function exampleOf(key: CallSearchKey): string {
  return `${key}:${CALL_SEARCH_KEYS[key].example}`;
}

/** Adds a filter; returns what is wrong with it. */
function addTerm(
  fields: { [field: string]: string | number | string[] },
  { key, value }: SearchTerm,
  nowMs: number,
): string | undefined {
  const { field, words }: SearchKey = CALL_SEARCH_KEYS[key];
  if (key === 'arg') return addArg(fields, value);
  if (fields[field] !== undefined) {
    return key === 'text'
      ? 'There can be one text to search for: write its words side by side.'
      : `${key} is given twice.`;
  }
  if (key === 'since' || key === 'until') {
    const timeMs = momentMs(value, nowMs);
    if (timeMs === undefined || timeMs < 0) {
      return `${key} needs a time: 2026-01-31T12:00:00Z, 2026-01-31, or 15m, 2h, 3d ago.`;
    }
    fields[field] = timeMs;
    return undefined;
  }
  const meant = words === undefined ? value : meantBy(key, value, words);
  if (meant === undefined) {
    return `${key} is one of ${words?.map(({ word }) => word).join(', ') ?? ''}.`;
  }
  fields[field] = key === 'args-hash' ? meant.toLowerCase() : meant;
  return valueProblem(key, meant);
}

function addArg(
  fields: { [field: string]: string | number | string[] },
  value: string,
): string | undefined {
  const args = Array.isArray(fields['arg']) ? fields['arg'] : [];
  if (args.length >= ARGS_MAX) return `arg can be given ${ARGS_MAX} times.`;
  if (!/^[^=]+=/.test(value) || value.length > ARG_LENGTH_MAX) {
    return `arg needs a name and a glob, like ${exampleOf('arg')}.`;
  }
  fields['arg'] = [...args, value];
  return undefined;
}

/** A word of people, or the value itself, in either case. */
function meantBy(
  key: CallSearchKey,
  value: string,
  words: readonly SearchWord[],
): string | undefined {
  const lower = value.toLowerCase();
  const word = words.find((one) => one.word === lower);
  if (word !== undefined) return word.value;
  return valuesOf(key).find((one) => one.toLowerCase() === lower);
}

function valuesOf(key: CallSearchKey): readonly string[] {
  if (key === 'decision') return CALL_DECISION_FILTER.values;
  return key === 'status' ? CALL_STATUS_FILTER.values : CALL_KIND_FILTER.values;
}

function valueProblem(key: CallSearchKey, value: string): string | undefined {
  if (value.includes('\0')) return 'A value cannot hold the character NUL.';
  if (key === 'args-hash') {
    return SHA256.test(value) ? undefined : 'args-hash needs 64 digits of 0-9 and a-f.';
  }
  const lengthMax =
    key === 'text' ? TEXT_LENGTH_MAX : key === 'path' ? PATH_LENGTH_MAX : NAME_LENGTH_MAX;
  return value.length > lengthMax ? `${key} has at most ${lengthMax} characters.` : undefined;
}
