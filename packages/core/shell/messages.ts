// Options whose value is only said: the message of a commit, the text of an issue.
import type { ShellWord } from './reading.ts';

/** Where a program takes messages: behind which of its commands, and behind which options. */
interface Messages {
  readonly commands: RegExp;
  readonly options: RegExp;
}

const ISSUES =
  /^(?:issue|pr|mr|release) (?:create|new|edit|update|comment|note|review|merge|close)$/;
const MESSAGE = /^(?:-[aefnpqsv]{0,4}m|--message)$/;
/** Programs that keep a history, or the issues of one. */
export const HISTORIES: ReadonlyMap<string, Messages> = new Map([
  ['git', { commands: /^(?:commit|tag|merge|notes|stash) /, options: MESSAGE }],
  ['hg', { commands: /^(?:commit|ci|tag) /, options: MESSAGE }],
  ['jj', { commands: /^(?:commit|describe|desc|new|squash) /, options: MESSAGE }],
  ['svn', { commands: /^(?:commit|ci|copy|cp) /, options: MESSAGE }],
  ['gh', { commands: ISSUES, options: /^(?:-[btn]|--(?:body|title|notes|comment))$/ }],
  ['glab', { commands: ISSUES, options: /^(?:-[dtm]|--(?:description|title|message|notes))$/ }],
]);
/** Options of git before its command that have a value of their own. */
const VALUED = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|config-env))$/;
/** Words before the command, at most. */
const WORDS_BEFORE_MAX = 16;

/** Whether the last word of a command is an option, and the next one a message. */
export function isMessageOption(words: readonly ShellWord[]): boolean {
  const program = onlyText(words[0]);
  const messages = HISTORIES.get(program);
  if (messages === undefined || !messages.options.test(onlyText(words.at(-1)))) return false;
  const start = program === 'git' ? commandOfGit(words) : 1;
  return messages.commands.test(`${onlyText(words[start])} ${onlyText(words[start + 1])}`);
}

/** Where the first word stands that is no option: `git -C x commit`. */
function commandOfGit(words: readonly ShellWord[]): number {
  for (let at = 1; at < WORDS_BEFORE_MAX; at++) {
    const text = onlyText(words[at]);
    if (VALUED.test(text)) at++;
    else if (!text.startsWith('-')) return at;
  }
  return words.length;
}

/** What may be one thing or another is neither of them. */
function onlyText(word: ShellWord | undefined): string {
  const [text = '', more] = word?.texts ?? [];
  return more === undefined ? text : '';
}
