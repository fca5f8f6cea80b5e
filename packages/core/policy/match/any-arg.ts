// `match.any_arg`: every text anywhere in the arguments, keys included. Texts are compared as they stand;
// as paths, also the words of commands, the files of patches and the paths in URIs.
import type { AnyArgMatch, JsonObject, JsonValue } from '@subluminal/contracts';
import { absolutePath, lexicalPath } from '../../paths/lexical-path.ts';
import { nameVariants } from '../../paths/name-variants.ts';
import { namedPaths, type WantedNames } from '../../paths/named-paths.ts';
import type { NameTest } from '../../patterns/glob.ts';
import type { ProjectPaths } from '../../ports.ts';
import { UNKNOWN } from '../../shell/word-texts.ts';
import { anyOf, type Certainty } from './certainty.ts';
import { type ArgsJudge, type DiskView, isList, judgePath, judgeReading } from './path-args.ts';
import {
  compilePathPatterns,
  foldPath,
  formOf,
  mentionsOf,
  PATH_FIELDS,
  type PathField,
  type PathPatternTest,
} from './path-patterns.ts';

const DEPTH_MAX = 512;
const TEXTS_MAX = 200_000;
/** `note://host/path`: what stands behind the host is no path on this disk. */
const WITH_HOST = /^[a-z][a-z0-9+.-]{1,40}:\/\/[^/]/i;

/** `Route: /users`: the parts of a sentence; in commands, and behind keys of files, each word is a name. */
const SENTENCE = /[=:@,+<>]\s/;

/** Judges the arguments: one text that surely matches is enough. */
export function anyArgJudge(
  match: AnyArgMatch,
  tests: readonly NameTest[],
  paths: ProjectPaths | undefined,
): ArgsJudge {
  const isWanted: NameTest = (text) => tests.some((test) => test(text));
  const judges: ArgsJudge[] = tests.length === 0 ? [] : [(args) => textsJudged(args, isWanted)];
  for (const field of PATH_FIELDS) {
    const patterns = match[field];
    if (patterns !== undefined) judges.push(namesJudge(patterns, field, needed(paths)));
  }
  return (args, disk) => anyOf(judges, (judge) => judge(args, disk));
}

export function needed(paths: ProjectPaths | undefined): ProjectPaths {
  if (paths === undefined) throw new Error('rules about paths need the folders of the project');
  return paths;
}

function textsJudged(args: JsonObject, test: NameTest): Certainty {
  let left = TEXTS_MAX;
  const visit = (value: JsonValue, depth: number): Certainty => {
    if (depth > DEPTH_MAX || --left < 0) return 'maybe';
    if (typeof value === 'string') return test(value) ? 'yes' : 'no';
    if (typeof value !== 'object' || value === null) return 'no';
    if (!isList(value) && Object.keys(value).some(test)) return 'yes';
    return anyOf(Object.values(value), (member) => visit(member, depth + 1));
  };
  return visit(args, 0);
}

/** Judges every name in the arguments that may be that of a file. */
function namesJudge(patterns: readonly string[], field: PathField, paths: ProjectPaths): ArgsJudge {
  const test = compilePathPatterns(patterns, field, paths);
  const wanted = wantedNames(patterns, field, paths);
  const judge = field === 'not_path_under' ? judgeOutside : judgeName;
  return (args, disk) => {
    const { names, isWhole } = namedPaths(args, wanted);
    const search = { ...disk(), test, paths, wanted };
    const found = anyOf(names, (name) => judge(name, search));
    return found === 'no' && !isWhole ? 'maybe' : found;
  };
}

interface NameSearch extends DiskView {
  readonly test: PathPatternTest;
  readonly paths: ProjectPaths;
  readonly wanted: WantedNames;
}

/** Any text may hold a path that leaves a folder, so only what looks like one is read. */
function wantedNames(
  patterns: readonly string[],
  field: PathField,
  paths: ProjectPaths,
): WantedNames {
  if (field === 'not_path_under') {
    return { baseNames: { has: () => false }, isMentioned: () => false };
  }
  const lists = patterns.map((text) => mentionsOf(text, formOf(field), paths));
  const isAnything = lists.some((list) => list.length === 0);
  const mentions = [...new Set(lists.flat())];
  const isMentioned = (text: string): boolean => {
    if (isAnything) return true;
    const lower = text.toLowerCase();
    return mentions.some((one) => lower.includes(one));
  };
  return { baseNames: { has: isMentioned }, isMentioned, inProse: true };
}

/** The whole name counts as it is; a part of it, such as the value of an option, may be a path. */
function judgeName(name: string, search: NameSearch): Certainty {
  const { test, paths, resolve } = search;
  const hole = name.indexOf(UNKNOWN);
  const whole = hole === -1 ? judgePath(name, test, { paths, resolve }) : 'no';
  if (whole === 'yes') return 'yes';
  // For some servers, a NUL ends a path.
  const ended = hole === -1 ? [] : partsOf(name.slice(0, hole), search);
  for (const part of [...partsOf(name, search), ...ended].flatMap(asSearched)) {
    const path = absolutePath(part, paths.project);
    if (test(foldPath(lexicalPath(path), paths))) return 'maybe';
    const { paths: meant, isWhole } = search.expand(lexicalPath(path));
    // What a hole stands for is not seen in any case.
    if (!isWhole && !isOpen(part)) return 'maybe';
    if (meant.some((one) => judgeReading(one, test, { paths, resolve }).byPlace !== 'no')) {
      return 'maybe';
    }
    if (isOpen(part)) continue;
    if (judgeReading(path, test, { paths, resolve }).byPlace !== 'no') return 'maybe';
  }
  return whole;
}

/** Tools that search take names with a dot for a pattern such as `*nv`, and files at the top for `**\/x`. */
function asSearched(part: string): readonly string[] {
  const top = part.replace(/(?:\*\*\/)+/g, '');
  const dotted = top.replace(/(^|\/)(?:\?|\[[^\]]*\])([^/]*)$/s, '$1.$2');
  const wild = top.replace(/(^|\/)\*(?=[^/*.][^/]*$)/s, '$1.*');
  return part.includes(UNKNOWN) ? [part] : [...new Set([part, top, dotted, wild])];
}

/** Whether only a running shell knows where a part leads. */
function isOpen(part: string): boolean {
  return part.includes(UNKNOWN);
}

function partsOf(name: string, { paths, wanted }: NameSearch): readonly string[] {
  const { home: userHome, env } = paths;
  const isMentioned = (text: string) => wanted.isMentioned(text);
  return nameVariants(name, { userHome, env, isMentioned });
}

/** A part that is relative stays in the project, as far as it does not go up. */
function judgeOutside(name: string, search: NameSearch): Certainty {
  const { test, paths, resolve } = search;
  const whole = isOpen(name) ? 'yes' : judgePath(name, test, { paths, resolve });
  if (whole === 'no') return 'yes';
  const parts = WITH_HOST.test(name) || SENTENCE.test(name) ? [] : partsOf(name, search);
  for (const part of parts) {
    if (isOpen(part) || (!part.startsWith('/') && !part.includes('..'))) continue;
    const { byPlace } = judgeReading(absolutePath(part, paths.project), test, { paths, resolve });
    if (byPlace !== 'yes') return 'maybe';
  }
  return whole === 'yes' ? 'no' : 'maybe';
}
