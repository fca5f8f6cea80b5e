// Programs that run another one with names of files that they find or read.
import type { SpecialRun } from './builtin-runs.ts';
import { type Argument, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { foundBy, listedNames } from './script-input.ts';
import type { ScriptOutline } from './script-outline.ts';
import { type NamedRun, useArguments, useValues } from './use-arguments.ts';
import { UNKNOWN } from './word-texts.ts';

const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FIND_WRITES = new Set(['-fprint', '-fprint0', '-fls', '-fprintf']);
const FIND_READS = new Set(['-newer', '-samefile', '-anewer', '-cnewer', '-files0-from']);

interface FilledMark {
  readonly mark: string;
  readonly names: readonly string[];
}

/** The arguments with each of the names in the place of a mark; with an unknown one if they are many. */
function filledIn(
  outline: ScriptOutline,
  args: readonly Argument[],
  { mark, names }: FilledMark,
): readonly Argument[] {
  const chars = names.reduce((sum, { length }) => sum + length + 1, 0);
  const hasMark = (text: string) => text.includes(mark);
  const marked = args.flatMap(({ texts }) => texts.filter(hasMark));
  const cost = marked.reduce((sum, { length }) => sum + length * chars, 0);
  const given = outline.takes(cost) ? names : [UNKNOWN];
  return args.map(({ texts, isProse }) => ({
    texts: texts.flatMap((text) =>
      hasMark(text) ? given.map((name) => text.replaceAll(mark, () => name)) : [text],
    ),
    isProse,
  }));
}

const find: SpecialRun = (outline, run) => {
  const { args, folders } = run;
  const text = (at: number) => args[at]?.texts[0] ?? '';
  const note = (role: 'read' | 'write' | 'remove', paths: readonly string[]) => {
    for (const path of paths) outline.findings.add(role, path, folders);
  };
  let at = 0;
  while (/^-(?:[HLP]|O\d?|D)$/.test(text(at))) at++;
  const start = at;
  while (at < args.length && !/^[-(!,]/.test(text(at))) at++;
  const given = args.slice(start, at).flatMap(({ texts }) => texts);
  const roots = given.length === 0 ? ['.'] : given;
  note('read', roots);
  const tests = args.slice(at).map(({ texts: [one = ''] }) => one);
  const testsAt = at;
  // What stands behind an action says nothing about the files that it gets, and a comma begins again.
  const foundUntil = (end: number) =>
    foundBy(tests.includes(',') ? [] : tests.slice(0, end - testsAt), roots);
  for (; at < args.length; at++) {
    const test = text(at);
    if (test === '-delete') note('remove', foundUntil(at));
    else if (FIND_WRITES.has(test)) note('write', args[++at]?.texts ?? []);
    else if (FIND_READS.has(test)) note('read', args[++at]?.texts ?? []);
    else if (FIND_RUNS.has(test)) {
      const names = foundUntil(at);
      const isAll = names.some((path) => path.endsWith('/**'));
      if (isAll) for (const root of roots) outline.findings.addTree(root, folders);
      const first = ++at;
      while (at < args.length && text(at) !== ';' && text(at) !== '+') at++;
      const inner = filledIn(outline, args.slice(first, at), { mark: '{}', names });
      if (inner.length > 0)
        outline.run({ ...run, isWrapped: true, folders: run.folders.copy(), args: inner });
    }
  }
};

const FROM_FILE = /^(?:-a|--arg-file)$/;
const AT_LINES = /^(?:-[0dILi]|--null|--delimiter|--replace)$/;

/** Gives the names that it reads to the command behind it. */
const xargs: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  noteUnknownOptions(outline, run, parsed.flags);
  const words = run.args.slice(parsed.operandsAt);
  if (words.length === 0) return;
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const names = has(FROM_FILE) ? [UNKNOWN] : listedNames(run, has(AT_LINES));
  // `ls -A` lists what begins with a dot, too.
  if (names.some((name) => name.endsWith('/*')))
    for (const name of names) outline.findings.addTree(name.replace(/\/\*$/, ''), run.folders);
  const isMarked = ({ option }: { readonly option: string }) => /^-[iI]$|^--replace$/.test(option);
  const mark =
    parsed.values.find(isMarked)?.value.texts[0] ?? (parsed.flags.includes('-i') ? '{}' : '');
  const args =
    mark === ''
      ? [...words, ...names.map((name) => ({ texts: [name], isProse: false }))]
      : filledIn(outline, words, { mark, names });
  outline.run({ ...run, isWrapped: true, folders: run.folders.copy(), args, feed: undefined });
};

/** The same, with the names behind `:::` as well; a single word is a command line. */
const parallel: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  noteUnknownOptions(outline, run, parsed.flags);
  const given = run.args.slice(parsed.operandsAt);
  const end = given.findIndex(({ texts: [text = ''] }) => /^:::?\+?$|^::::\+?$/.test(text));
  const words = end === -1 ? given : given.slice(0, end);
  const isFromFile =
    parsed.flags.some((flag) => FROM_FILE.test(flag)) ||
    given.some(({ texts: [text = ''] }) => text.startsWith('::::'));
  const listed =
    end === -1 ? listedNames(run, true) : given.slice(end + 1).flatMap(({ texts }) => texts);
  const names = isFromFile ? [UNKNOWN] : listed;
  const hasMark = words.some(({ texts }) => texts.some((text) => text.includes('{}')));
  const line =
    hasMark || words.length === 0 ? words : [...words, { texts: ['{}'], isProse: false }];
  const filled =
    words.length === 0
      ? [{ texts: names, isProse: false }]
      : filledIn(outline, line, { mark: '{}', names });
  const [only, more] = filled;
  const isLine = more === undefined || words.length === 1;
  if (!isLine)
    return outline.run({
      ...run,
      isWrapped: true,
      folders: run.folders.copy(),
      args: filled,
      feed: undefined,
    });
  const others = filled.slice(1).flatMap(({ texts }) => texts);
  for (const text of only?.texts ?? []) outline.runScript([text, ...others].join(' '), run);
};

const FD_RUNS = /^(?:-x|-X|--exec|--exec-batch)$/;

/** `fd -H . -x cat`: the command stands behind the option, and gets every file that is found. */
const fd: SpecialRun = (outline, run, parsed) => {
  const at = run.args.findIndex(({ texts: [text = ''] }) => FD_RUNS.test(text));
  const given = at === -1 ? run.args : run.args.slice(0, at);
  const spec = programSpec('fd');
  const own = at === -1 ? parsed : parseArguments(given, spec);
  useArguments(outline, run, { spec, parsed: own });
  if (at === -1) return;
  const roots = own.operands.slice(1).flatMap(({ texts }) => texts);
  const names = (roots.length === 0 ? ['.'] : roots).map((root) => `${root}/**`);
  for (const root of roots.length === 0 ? ['.'] : roots)
    outline.findings.addTree(root, run.folders);
  const words = run.args.slice(at + 1);
  const hasMark = words.some(({ texts }) => texts.some((text) => text.includes('{}')));
  const args = hasMark
    ? filledIn(outline, words, { mark: '{}', names })
    : [...words, { texts: names, isProse: false }];
  if (words.length > 0)
    outline.run({ ...run, isWrapped: true, folders: run.folders.copy(), args, feed: undefined });
};

/** What stands behind an option that is not known may be its value, or the command. */
function noteUnknownOptions(outline: ScriptOutline, run: NamedRun, flags: readonly string[]): void {
  const spec = programSpec(run.name);
  for (const flag of flags) {
    const isKnown = spec.flags.has(flag) || spec.values.has(flag) || /^-\w{2,}$/.test(flag);
    if (!isKnown) outline.findings.addOpaque('unreadable', `${run.path} ${flag}`);
  }
}

export const LIST_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ['find', find],
  ['fd', fd],
  ['fdfind', fd],
  ['xargs', xargs],
  ['parallel', parallel],
]);
