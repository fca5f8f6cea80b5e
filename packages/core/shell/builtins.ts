// Facts about programs and builtins: which options hold messages, and which variables they set.
import type { Budget, ShellWord } from './reading.ts';

type CommandWords = readonly ShellWord[];

const ISSUES =
  /^(?:issue|pr|mr|release) (?:create|new|edit|update|comment|note|review|merge|close)$/;
const MESSAGE = /^(?:-[aefnpqsv]{0,4}m|--message)$/;

/** Programs that keep a history or its issues: which commands and options take a message. */
export const HISTORIES: ReadonlyMap<string, { commands: RegExp; options: RegExp }> = new Map([
  ['git', { commands: /^(?:commit|tag|merge|notes|stash) /, options: MESSAGE }],
  ['hg', { commands: /^(?:commit|ci|tag) /, options: MESSAGE }],
  ['jj', { commands: /^(?:commit|describe|desc|new|squash) /, options: MESSAGE }],
  ['svn', { commands: /^(?:commit|ci|copy|cp) /, options: MESSAGE }],
  ['gh', { commands: ISSUES, options: /^(?:-[btn]|--(?:body|title|notes|comment))$/ }],
  ['glab', { commands: ISSUES, options: /^(?:-[dtm]|--(?:description|title|message|notes))$/ }],
]);
/** Options of git before its command that have a value of their own. */
const VALUED = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|config-env))$/;
const WORDS_BEFORE_COMMAND_MAX = 16;

/** Whether the last word of a command is an option whose value is only a message. */
export function isMessageOption(words: CommandWords): boolean {
  const program = onlyText(words[0]);
  const messages = HISTORIES.get(program);
  if (messages === undefined || !messages.options.test(onlyText(words.at(-1)))) return false;
  const start = program === 'git' ? gitCommandIndex(words) : 1;
  return messages.commands.test(`${onlyText(words[start])} ${onlyText(words[start + 1])}`);
}

/** Where the first word stands that is no option: `git -C x commit`. */
function gitCommandIndex(words: CommandWords): number {
  for (let at = 1; at < WORDS_BEFORE_COMMAND_MAX; at++) {
    const text = onlyText(words[at]);
    if (VALUED.test(text)) at++;
    else if (!text.startsWith('-')) return at;
  }
  return words.length;
}

/** Empty for a word that may have several texts. */
function onlyText(word: ShellWord | undefined): string {
  const [text = '', more] = word?.texts ?? [];
  return more === undefined ? text : '';
}

/** Stand before the builtin that a command runs. */
const LEADERS: ReadonlySet<string> = new Set(
  'while until if elif ! time builtin command'.split(' '),
);
/** Builtins that set the variables they name, and this one. */
const SETTERS: ReadonlyMap<string, string> = new Map([
  ['read', 'REPLY'],
  ['mapfile', 'MAPFILE'],
  ['readarray', 'MAPFILE'],
  ['getopts', 'OPTARG'],
]);
/** Builtins that set the variable behind an option. */
const OPTION_SETTERS: ReadonlyMap<string, string> = new Map([
  ['printf', '-v'],
  ['wait', '-p'],
]);
const DECLARERS: ReadonlySet<string> = new Set(['declare', 'local', 'typeset']);
const NAME = /^[A-Za-z_]\w*(?=$|\[|=|\+=)/;
const NAMES = /[A-Za-z_]\w*/g;
/** A variable that an arithmetic expression changes: `a=5`, `a+=b`, `a++`, `--a`. */
const CHANGED =
  /(?:\+\+|--)\s{0,8}([A-Za-z_]\w*)|([A-Za-z_]\w*)\s{0,8}(?:\+\+|--|[-+*/%&|^<>]{0,2}=)/g;
/** A longer expression is looked at up to here. */
const ARITHMETIC_LENGTH_MAX = 256;

/** The variables that a command sets to what only the running shell knows, or `all` that there are. */
export function variablesSetBy(words: CommandWords): readonly string[] | 'all' {
  const start = words.findIndex(({ texts: [text = ''] }) => {
    return !LEADERS.has(text) && !/^\w+\+?=/.test(text);
  });
  const builtin = words[start]?.texts[0] ?? '';
  const given = words.slice(start + 1);
  if (builtin === '.' || builtin === 'source') return 'all';
  const own = SETTERS.get(builtin);
  if (own !== undefined) return [own, ...namesIn(given)];
  const option = OPTION_SETTERS.get(builtin);
  if (option !== undefined) return namesBehind(option, given);
  if (builtin === 'let') {
    return given.flatMap(({ texts }) => texts.flatMap((text) => text.match(NAMES) ?? []));
  }
  // `-n` names another variable, and `-i` makes the value an expression.
  const isIndirect = () => given.some(({ texts }) => texts.some((text) => /^-\w*[ni]/.test(text)));
  if (!DECLARERS.has(builtin) || !isIndirect()) return [];
  const named = given.flatMap(({ texts }) => texts.map((text) => text.replace(/^\w+=/, '')));
  return [...namesIn(given), ...named.filter((name) => name === 'IFS')];
}

function namesIn(words: CommandWords): readonly string[] {
  return words.flatMap(({ texts }) => texts.flatMap((text) => NAME.exec(text) ?? []));
}

/** `-v name` and `-vname`. */
function namesBehind(option: string, words: CommandWords): readonly string[] {
  const texts = words[0]?.texts ?? [];
  if (texts.includes(option)) return namesIn(words.slice(1, 2));
  const glued = texts.filter((text) => text.startsWith(option));
  return glued.flatMap((text) => NAME.exec(text.slice(option.length)) ?? []);
}

/** The variables that the `((…))` beginning there changes. */
export function variablesInArithmetic(text: string, at: number, budget: Budget): readonly string[] {
  const [expression = ''] = text.slice(at, at + ARITHMETIC_LENGTH_MAX).split('))', 1);
  if (!budget.takes(expression.length)) return [];
  return [...expression.matchAll(CHANGED)].map(([, before, behind]) => before ?? behind ?? '');
}
