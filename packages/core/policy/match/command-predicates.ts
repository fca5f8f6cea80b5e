// `match.command`: what a shell command would run, read, write and reach. Loaded only when a bundle has one.
// A rule that lets calls pass needs every part of a command to match, all others need one.
import type { AnyArgMatch, CommandMatch } from '@subluminal/contracts';
import { lexicalPath } from '../../paths/lexical-path.ts';
import { compileGlob, type NameTest } from '../../patterns/glob.ts';
import type { Expansion, ProjectPaths } from '../../ports.ts';
import { EMPTY_OUTLINE, outlineCall } from '../../shell/call-outline.ts';
import { type FoldersRead, foldersRead } from '../../shell/folder-tools.ts';
import type { CommandOutline, ProgramUse } from '../../shell/index.ts';
import type { Call } from '../model/call.ts';
import type { RuleRole } from '../model/rule-role.ts';
import { needed } from './any-arg.ts';
import type { ArgPredicate, JudgedCall } from './arg-predicates.ts';
import { agreed, allOf, anyOf, type Certainty, negated } from './certainty.ts';
import { type DiskView, judgePath, judgeReading } from './path-args.ts';
import { compilePathPatterns, type PathField, type PathPatternTest } from './path-patterns.ts';

/** All commands of a call as one; undefined for a call that runs none. */
export function commandOf({ args, subject, ...tool }: Call): CommandOutline | undefined {
  return args === undefined || subject !== undefined ? undefined : outlineCall(tool, args);
}

/** The predicates of `match.command`, one for each field. */
export function commandPredicates(
  match: CommandMatch,
  paths: ProjectPaths | undefined,
): readonly ArgPredicate[] {
  const { program, hosts, opaque } = match;
  const found: ArgPredicate[] = [];
  if (program !== undefined) {
    const tests = globTests(program, paths?.isCaseless === true);
    const judge = (use: ProgramUse, { role }: JudgedCall) => judgeProgram(use, tests, role);
    found.push(
      predicate('program', program, {
        items: (outline) => outline.programs,
        judge,
        shown: ({ path, args }) => [path, ...args].join(' '),
        // A command that runs nothing, such as `> file`, runs no program that a rule names.
        whenNone: 'no',
      }),
    );
  }
  for (const { name, list, field } of FILE_FIELDS) {
    const patterns = match[name];
    if (patterns === undefined) continue;
    const test = compilePathPatterns(patterns, field, needed(paths));
    const isNegated = field === 'not_path_under';
    const judge = (path: string, { disk }: JudgedCall) => {
      const inside = judgeFile(path, test, { ...disk(), paths: needed(paths) });
      return isNegated ? negated(inside) : inside;
    };
    found.push(predicate(name, patterns, { items: (outline) => filesIn(outline, list), judge }));
  }
  if (hosts !== undefined) {
    const tests = globTests(hosts, true);
    const judge = (host: string) => certain(tests.some((test) => test(host)));
    found.push(predicate('hosts', hosts, { items: (outline) => outline.hosts, judge }));
  }
  if (opaque !== undefined) found.push(opaquePredicate(opaque));
  return found;
}

/**
 * For `any_arg`: the files of a command from the folder that it is in when it names them, beside its words as they
 * stand, and what a client's tool reads of folders. A rule that lets calls pass goes by the words alone.
 */
export function commandFiles(
  match: AnyArgMatch,
  paths: ProjectPaths | undefined,
): (seen: JudgedCall) => Certainty {
  const tests = (['path_matches', 'path_under'] as const).flatMap((field) => {
    const patterns = match[field];
    return patterns === undefined ? [] : [compilePathPatterns(patterns, field, needed(paths))];
  });
  return ({ role, call, args, command, disk }) => {
    if (tests.length === 0 || role === 'allows') return 'no';
    const view = { ...disk(), paths: needed(paths) };
    const { paths: named, trees } = command() ?? EMPTY_OUTLINE;
    const searched = foldersRead(call, args);
    const files = [...named, ...trees.map(allBelow), ...(searched?.folders ?? [])];
    const found = searched === undefined ? NOTHING : filesSearched(searched, view);
    return anyOf(tests, (test) =>
      anyOf(
        [
          () => anyOf(files, (path) => judgeFile(path, test, view)),
          () => anyOf(found.paths, (path) => judgeFound(path, test, view)),
          () => (found.isWhole ? 'no' : 'maybe'),
        ],
        (one) => one(),
      ),
    );
  };
}

const FILE_FIELDS: readonly {
  readonly name: 'reads' | 'writes' | 'not_writes_under' | 'args_under' | 'not_args_under';
  readonly list: 'reads' | 'writes' | 'paths';
  readonly field: PathField;
}[] = [
  { name: 'reads', list: 'reads', field: 'path_matches' },
  { name: 'writes', list: 'writes', field: 'path_matches' },
  { name: 'not_writes_under', list: 'writes', field: 'not_path_under' },
  { name: 'args_under', list: 'paths', field: 'path_under' },
  { name: 'not_args_under', list: 'paths', field: 'not_path_under' },
];

/** With all that is read of folders, where it is asked what is read. */
function filesIn(outline: CommandOutline, list: 'reads' | 'writes' | 'paths'): readonly string[] {
  return list === 'reads' ? [...outline.reads, ...outline.trees.map(allBelow)] : outline[list];
}

function allBelow(folder: string): string {
  return `${folder}/**`;
}

interface CommandPart<T> {
  readonly items: (outline: CommandOutline) => readonly T[];
  readonly judge: (item: T, seen: JudgedCall) => Certainty;
  readonly shown?: (item: T) => string;
  /** For a rule that lets calls pass. */
  readonly whenNone?: Certainty;
}

function predicate<T>(
  field: string,
  patterns: readonly string[],
  { items, judge, shown = String, whenNone = 'yes' }: CommandPart<T>,
): ArgPredicate {
  return {
    name: `command.${field}`,
    patterns,
    judge: (seen) => {
      const outline = seen.command();
      if (outline === undefined) return 'no';
      const all = items(outline);
      if (seen.role !== 'allows') return anyOf(all, (item) => judge(item, seen));
      // What is not understood may do anything.
      if (outline.opaque.length > 0) return 'maybe';
      return all.length === 0 ? whenNone : allOf(all, (item) => judge(item, seen));
    },
    parts: (seen) =>
      items(seen.command() ?? EMPTY_OUTLINE).map((item) => {
        return { text: shown(item), judged: judge(item, seen) };
      }),
  };
}

function opaquePredicate(wanted: boolean): ArgPredicate {
  return {
    name: 'command.opaque',
    patterns: [String(wanted)],
    judge: ({ command }) => {
      const outline = command();
      return certain(outline !== undefined && outline.opaque.length > 0 === wanted);
    },
    parts: ({ command }) =>
      (command()?.opaque ?? []).map(({ why, text }) => {
        return { text: `${text} (${why})`, judged: certain(wanted) };
      }),
  };
}

function certain(isSo: boolean): Certainty {
  return isSo ? 'yes' : 'no';
}

function globTests(globs: readonly string[], ignoresCase: boolean): readonly NameTest[] {
  return globs.map((glob) => {
    const compiled = compileGlob(glob, { ignoresCase });
    if (!compiled.ok)
      throw new Error(`an invalid glob reached the compiler: ${glob.slice(0, 100)}`);
    return compiled.test;
  });
}

/** Where systems keep their own programs; one that lies elsewhere may have any name. */
const SYSTEM_PROGRAM = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;
const OPTIONS_MAX = 32;

/**
 * To be let pass, a program must match as it is written. To be stopped, it is enough that it matches by
 * its name wherever it lies, and without the options that stand before its command: `git -C x push`.
 */
function judgeProgram(use: ProgramUse, tests: readonly NameTest[], role: RuleRole): Certainty {
  const { name, path, args } = use;
  const fits = (text: string) => tests.some((test) => test(text));
  const isMatched = (called: string, rest: readonly string[]) =>
    fits(called) || fits([called, ...rest].join(' '));
  const isPlain = !path.includes('/') || SYSTEM_PROGRAM.test(path);
  if (role === 'allows') return certain(isMatched(isPlain ? name : path, args));
  const called = new Set([name, path]);
  const shorter = withoutLeadingOptions(args);
  return certain(
    [...called].some((one) => isMatched(one, args) || shorter.some((rest) => isMatched(one, rest))),
  );
}

/** The arguments without their first options; what stands behind an option may be its value. */
function withoutLeadingOptions(args: readonly string[]): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  let isValue = false;
  for (let at = 0; at < Math.min(args.length, OPTIONS_MAX); at++) {
    const isOption = args[at]?.startsWith('-') === true;
    if (!isOption && !isValue) break;
    isValue = isOption;
    found.push(args.slice(at + 1));
  }
  return found;
}

interface FileDisk extends DiskView {
  readonly paths: ProjectPaths;
}

/** A file as a shell names it: what a pattern stands for is looked up. */
function judgeFile(path: string, test: PathPatternTest, disk: FileDisk): Certainty {
  const whole = judgePath(path, test, disk);
  if (whole === 'maybe' || !/[*?[]/.test(path)) return whole;
  const { paths: meant, isWhole } = disk.expand(absoluteIn(path, disk.paths));
  if (!isWhole) return 'maybe';
  const below = path.endsWith('/**') ? inTree(path.slice(0, -3), disk) : NOTHING;
  if (!below.isWhole) return 'maybe';
  const places = [...meant, ...below.paths].map((one) => judgeReading(one, test, disk).byPlace);
  return agreed([whole, ...places], whole);
}

/** Secrets of a project lie at its top, and in the folders there: more of a tree is not looked at. */
const TREE_PATTERNS = ['.*', '[!.]*', '*/.*'];
const NOTHING: Expansion = { paths: [], isWhole: true };

/** Clients leave them out of their searches. */
const HISTORY = /\/\.(?:git|svn|hg|bzr|jj|sl)$/;

/** What a search reads of folders; of the folders right in them, which it goes into, a name as its globs want it. */
function filesSearched(searched: FoldersRead, disk: FileDisk): Expansion {
  const { folders, globs, skipsHistory } = searched;
  const trees = folders.map((folder) => inTree(folder, disk));
  const isWhole = trees.every((tree) => tree.isWhole);
  const inside = trees.flatMap(({ paths }) => paths);
  const isSkipped = (path: string) => skipsHistory && HISTORY.test(path);
  if (globs === undefined) return { paths: inside.filter((path) => !isSkipped(path)), isWhole };
  const wanted = globs.map(
    (glob) => `*/${glob.replace(/^[./]*\/|\/+$/g, '').replaceAll('**/', '*')}`,
  );
  const tests = globTests([...wanted, ...wanted.map((glob) => `${glob}/*`)], true);
  const ends = new Set(globs.map((glob) => glob.replace(/^.*\//s, '').replace(/[*?]+/g, 'x')));
  const all = inside.flatMap((path) => {
    return isSkipped(path) ? [path] : [path, ...[...ends].map((end) => `${path}/${end}`)];
  });
  return { paths: all.filter((path) => tests.some((test) => test(path))), isWhole };
}

/** A link counts by its own name, too. */
function judgeFound(path: string, test: PathPatternTest, disk: FileDisk): Certainty {
  const { byName, byPlace } = judgeReading(path, test, disk);
  return byName ? 'yes' : byPlace;
}

/** What of a tree is looked at; not whole where its top was not read, because too much else was. */
function inTree(tree: string, { paths, expand }: FileDisk): Expansion {
  const folder = absoluteIn(tree, paths);
  const found = TREE_PATTERNS.map((end) => expand(`${folder}/${end}`));
  return { paths: found.flatMap((one) => one.paths), isWhole: found[0]?.isWhole !== false };
}

function absoluteIn(path: string, { home, project }: ProjectPaths): string {
  const start = path.replace(/^~(?=\/|$)/, () => home);
  return lexicalPath(start.startsWith('/') ? start : `${project}/${start}`);
}
