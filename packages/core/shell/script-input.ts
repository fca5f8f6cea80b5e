// What a command reads from its input, where that is known.
import { withoutEscapes } from './escapes.ts';
import type { Feed, ProgramRun } from './script-outline.ts';
import type { ScriptCommand } from './steps.ts';
import { UNKNOWN } from './word-texts.ts';

/** The texts that a command may read; `nothing` where it has no input of this line, or a file. */
export function inputTexts(
  command: ScriptCommand,
  feed: Feed,
): readonly string[] | 'unknown' | 'nothing' {
  if (command.heredocs.length > 0) return command.heredocs;
  const given = command.redirections.filter(({ sign }) => sign.startsWith('<'));
  const strings = given.filter(({ sign }) => sign === '<<<');
  if (strings.length > 0) return known(strings.flatMap(({ word }) => word.texts)) ?? 'unknown';
  // `<(…)` and descriptors are no files.
  if (given.some(({ word }) => word.texts.some((text) => /^\/dev\/fd|^\d+$|\0/.test(text))))
    return 'unknown';
  if (given.length > 0 || feed === undefined) return 'nothing';
  if (feed === 'block') return 'unknown';
  const [only, more] = feed;
  return (only === undefined || more !== undefined ? undefined : printedBy(only)) ?? 'unknown';
}

function known(texts: readonly string[]): readonly string[] | undefined {
  return texts.some((text) => text.includes(UNKNOWN)) ? undefined : texts;
}

/** What `echo`, `printf` and `cat` with a here-document print. */
function printedBy(command: ScriptCommand): readonly string[] | undefined {
  const [name = '', ...words] = command.words.map(({ texts: [text = ''] }) => text);
  const isPlain = command.words.every(({ texts }) => texts.length === 1);
  if (name === 'cat' && words.length === 0 && command.heredocs.length > 0) return command.heredocs;
  if (!isPlain || (name !== 'echo' && name !== 'printf')) return undefined;
  if (name === 'echo') {
    const start = words.findIndex((word) => !/^-[neE]+$/.test(word));
    const text = words.slice(start === -1 ? words.length : start).join(' ');
    return known([...new Set([text, withoutEscapes(text)])]);
  }
  const [format = '', ...values] = words[0] === '--' ? words.slice(1) : words;
  if (!format.includes('%')) return known([withoutEscapes(format)]);
  return /^(?:%[sb](?:\\n| )?)+$/.test(format)
    ? known([
        values.join(format.includes('\\n') ? '\n' : ''),
        values.join(' '),
        withoutEscapes(values.join(' ')),
      ])
    : undefined;
}

/** Pass on some of the lines that they read. */
const KEEPS_LINES = new Set('grep egrep fgrep sort uniq head tail shuf tac'.split(' '));
/** Print the names of files below their operands. */
const LISTERS = new Set(['ls', 'fd', 'fdfind', 'find', 'git', 'rg', 'grep']);

/** The names that `xargs` reads, as far as they are known. */
export function listedNames(
  { command, feed }: ProgramRun,
  isSplitAtLines: boolean,
): readonly string[] {
  // An escape of `printf` stays in what it prints.
  const blank = isSplitAtLines ? /\n|\\0/ : /\s+/;
  const texts = inputTexts(command, feed);
  if (typeof texts !== 'string')
    return texts.flatMap((text) => text.split(blank)).filter((name) => name !== '');
  if (feed === undefined || feed === 'block') return [UNKNOWN];
  const [first, ...filters] = feed;
  const isKept = filters.every(({ words }) => KEEPS_LINES.has(words[0]?.texts[0] ?? ''));
  return (isKept && first !== undefined ? listedBy(first) : undefined) ?? [UNKNOWN];
}

/** What a program that lists files may print. */
function listedBy(command: ScriptCommand): readonly string[] | undefined {
  const [name = '', ...words] = command.words.map(({ texts: [text = ''] }) => text);
  const printed = printedBy(command);
  if (printed !== undefined) return printed.flatMap((text) => text.split(/\s+/));
  const operands = words.filter((word) => !word.startsWith('-'));
  if (words.some((word) => word.includes(UNKNOWN)) || !LISTERS.has(name)) return undefined;
  if (name === 'find') {
    const start = words.findIndex((word) => /^[-(!]/.test(word));
    const roots = start === -1 ? words : words.slice(0, start);
    return foundBy(start === -1 ? [] : words.slice(start), roots.length === 0 ? ['.'] : roots);
  }
  if (name === 'ls')
    return operands.length === 0 ? ['./*'] : operands.flatMap((one) => [one, `${one}/*`]);
  if (name === 'git') {
    const isList =
      words[0] === 'ls-files' || (words[0] === 'diff' && words.includes('--name-only'));
    return isList ? ['./**'] : undefined;
  }
  const isList = words.some((word) => /^(?:-\w*l\w*|--files(?:-with-matches)?)$/.test(word));
  if (!isList && name !== 'fd' && name !== 'fdfind') return undefined;
  const folders = operands.slice(words.includes('--files') ? 0 : 1);
  return (folders.length === 0 ? ['.'] : folders).map((folder) => `${folder}/**`);
}

/** More names of files count as any. */
const NAMES_MAX = 32;
const PATTERN = /[*?[]/;
const FIND_NAMES = new Set(['-name', '-iname', '-path', '-wholename', '-ipath']);

/** In a path, a star of `find` stands for slashes as well. */
function endOfPath(path: string): string {
  const end = path.replace(/^.*\//s, '');
  return end.replace(/^[^*]*\*/, '*');
}

/** A pattern of `find` also stands for names that begin with a dot, and for those in the folder itself. */
function atAnyDepth(name: string): readonly string[] {
  if (!PATTERN.test(name)) return [`**/${name}`];
  const dotted = name.replace(/^(?:(?=\*)|\?|\[[^\]]+\])/, '.');
  return [...new Set([name, dotted])].flatMap((one) => [one, `**/${one}`]);
}

/** What `find` may find: anything below its folders, by the names that it asks for. */
export function foundBy(tests: readonly string[], roots: readonly string[]): readonly string[] {
  // What is left out, `! -path x`, makes it fewer.
  const isLeftOut = (at: number) =>
    /^(?:!|-not)$/.test(tests[at] ?? '') && FIND_NAMES.has(tests[at + 1] ?? '');
  const wanted = tests.filter((_test, at) => ![at, at - 1, at - 2].some(isLeftOut));
  const named = wanted.filter((_test, index) => wanted[index - 1] === '-name');
  const placed = wanted.filter((_test, index) => FIND_NAMES.has(wanted[index - 1] ?? ''));
  // All of them must hold, so that names alone say enough.
  const names = named.length > 0 ? named : placed.map(endOfPath);
  const isOpen = (test: string) => /^(?:!|-not|-o|-or|,|-i(?:name|path))$/.test(test);
  // `\\` and `[/]` in a name are read in more than one way.
  const isOdd = (name: string) => name.includes('\\') || /\[[^\]]*\//.test(name);
  const isAny = names.length === 0 || wanted.some(isOpen) || names.some(isOdd);
  const ends = isAny || names.length > NAMES_MAX ? ['**'] : names.flatMap(atAnyDepth);
  return roots.flatMap((root) => ends.map((end) => `${root.replace(/\/$/, '')}/${end}`));
}
