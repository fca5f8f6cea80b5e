// Advice on paths that are compared as text: `/srv/../etc` starts with `/srv`.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { ArgsMatch, Match } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';
import { quote } from '../../text/visible.ts';
import { childrenOf } from '../match/when-survey.ts';
import { type Advice, warning } from '../model/advice.ts';
import { ruleRole } from '../rules/index.ts';
import { argumentKey, textOf } from './check-arguments.ts';
import type { Subject } from './lint-subject.ts';

/** The last word of the names that arguments with paths have. */
const PATH_NAME =
  /^(?:paths?|files?|filenames?|filepaths?|dirs?|directory|directories|folders?|cwd|workdir)$/;
/** Names of arguments that hold paths in some tools. */
const PLACE_NAME = /^(?:src|dst|dest|source|destination|root|uris?)$/;
const ABSOLUTE = /^(?:[/~]|file:|[A-Za-z]:[\\/])/;
/** Has a folder in it, and is no URL. */
const RELATIVE = /^(?![a-z][a-z0-9+.-]*:)[^/\\]*[/\\]/i;
/** What an expression may have before the text that it begins with. */
const REGEX_START = /^\^(?:\((?:\?:)?)*/;

/** Conditions and matches that compare paths as they are written. */
export function rawPaths({ enabled, parseWhen }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    const path = ['rules', index];
    const conditions = rule.when === undefined ? [] : prefixesIn(parseWhen(rule.when));
    return [
      ...conditions.map(({ key, prefix, offset }) => {
        const advice = prefixAdvice([...path, 'when'], quote(`args.${key}`), prefix);
        return { ...advice, inside: offset };
      }),
      ...anyArgPrefixes(rule.match).map(({ prefix, at }) =>
        prefixAdvice([...path, 'match', 'any_arg', ...at], 'a path', prefix),
      ),
      ...(STOPPING.has(ruleRole(rule)) ? equalPaths(rule.match.args ?? {}, path) : []),
    ];
  });
}

function prefixAdvice(path: Path, what: string, prefix: string): Advice {
  const around = `${prefix.replace(/[/\\]$/, '')}/../x`;
  const message = `the start of ${what} is compared as text, so ${quote(around)} counts as below ${quote(prefix)}`;
  const fix = 'Use `path_under` or `not_path_under`, which resolve `..`, `~` and links first.';
  return warning('SUB_LINT_RAW_PATH', path, [message, fix]);
}

/** The patterns of `any_arg` that begin with a folder. */
function anyArgPrefixes({ any_arg = {} }: Match) {
  const { glob = [], regex = [] } = any_arg;
  const prefixes = [
    ...glob.map((text, at) => ({ prefix: /^[^*?[{\\]*/.exec(text)?.[0] ?? '', at: ['glob', at] })),
    ...regex.map((text, at) => ({ prefix: regexPrefix(text), at: ['regex', at] })),
  ];
  return prefixes.filter(({ prefix }) => ABSOLUTE.test(prefix) && prefix.length > 1);
}

/** Rules that a path in another spelling gets around; to let one spelling pass is safe. */
const STOPPING: ReadonlySet<string> = new Set(['denies', 'asks']);

function equalPaths({ key_equals = {}, key_in = {} }: ArgsMatch, path: Path): readonly Advice[] {
  const values = [
    ...Object.entries(key_equals).map(([key, value]) => ({ key, value, at: ['key_equals', key] })),
    ...Object.entries(key_in).flatMap(([key, all]) =>
      all.map((value, index) => ({ key, value, at: ['key_in', key, index] })),
    ),
  ];
  return values.flatMap(({ key, value, at }) => {
    if (typeof value !== 'string' || !ABSOLUTE.test(value) || !isPathStart(key, value)) return [];
    const message = `the path ${quote(`args.${key}`)} is compared as text, so another spelling of ${quote(value)} passes`;
    const fix = 'Use `path_matches`, which resolves `..`, `~` and links first.';
    return warning('SUB_LINT_RAW_PATH', [...path, 'match', 'args', ...at], [message, fix]);
  });
}

interface PathPrefix {
  readonly key: string;
  readonly prefix: string;
  readonly offset: number;
}

type BoundKeys = ReadonlyMap<string, string>;

function prefixesIn(root: ASTNode): readonly PathPrefix[] {
  const found: PathPrefix[] = [];
  const visit = (node: ASTNode, bound: BoundKeys): void => {
    const prefix = prefixOf(node, bound);
    if (prefix !== undefined) found.push(prefix);
    const inside = node.op === 'rcall' ? bindItem(node.args, bound) : bound;
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(root, new Map());
  return found;
}

/** In `args.paths.exists(p, …)`, `p` is an item of `args.paths`. */
function bindItem(
  [, owner, [item]]: Extract<ASTNode, { op: 'rcall' }>['args'],
  bound: BoundKeys,
): BoundKeys {
  const key = readKey(owner, bound);
  return key === undefined || item?.op !== 'id' ? bound : new Map([...bound, [item.args, key]]);
}

function prefixOf(node: ASTNode, bound: BoundKeys): PathPrefix | undefined {
  if (node.op !== 'rcall') return undefined;
  const [method, owner, [compared]] = node.args;
  const text = compared && textOf(compared);
  const key = readKey(owner, bound);
  if (text === undefined || key === undefined) return undefined;
  const prefix = method === 'startsWith' ? text : method === 'matches' ? regexPrefix(text) : '';
  return isPathStart(key, prefix) ? { key, prefix, offset: node.start } : undefined;
}

/** The plain text that an anchored expression begins with. */
function regexPrefix(regex: string): string {
  const start = REGEX_START.exec(regex)?.[0];
  if (start === undefined) return '';
  const rest = regex.slice(start.length).replaceAll(/\\([/.~-])/g, '$1');
  return /^[^\\[\](){}|?*+^$]*/.exec(rest)?.[0] ?? '';
}

/** The argument that a value is, perhaps in other letters. */
function readKey(node: ASTNode, bound: BoundKeys): string | undefined {
  if (node.op === 'id') return bound.get(node.args);
  if (node.op === 'rcall' && ['lowerAscii', 'upperAscii', 'trim'].includes(node.args[0])) {
    return readKey(node.args[1], bound);
  }
  if (node.op === 'call' && node.args[0] === 'string') {
    const [inner] = node.args[1];
    return inner && readKey(inner, bound);
  }
  return argumentKey(node);
}

function isPathStart(key: string, prefix: string): boolean {
  const words = key
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const last = words.at(-1) ?? '';
  if (PATH_NAME.test(last)) return ABSOLUTE.test(prefix) || RELATIVE.test(prefix);
  return PLACE_NAME.test(last) && ABSOLUTE.test(prefix);
}
