// Where a parameter stands, and which patterns mean it. A path is the names on the way joined by
// dots, without the indexes of lists: `message.to` is `to` in `message`, alone or in a list.
import { compileGlob, type NameTest } from '../../patterns/glob.ts';
import { compatible, variantOf } from './spelling.ts';

export interface ParamPath {
  /** For people, as it was sent. */
  readonly shown: string;
  /** For matching: `.message.to`, in lower case. */
  readonly folded: string;
  /** The same with compatibility characters replaced, when that differs. */
  readonly plain: string;
  /** The same without separators, brackets and what cannot be seen: `.forwardto`. */
  readonly bare: string;
  readonly depth: number;
  /** It goes on, but is too long to be held against patterns. */
  readonly isCut: boolean;
}

export interface ParamPattern {
  readonly source: string;
  readonly test: NameTest;
  /** The same for names without separators; undefined where it would be no other. */
  readonly testBare: NameTest | undefined;
  /** What every text that it matches starts with, as far as that is plain. */
  readonly prefix: string;
}
type PatternResult = ParamPattern | { readonly message: string };

export const ROOT: ParamPath = {
  shown: '',
  folded: '',
  plain: '',
  bare: '',
  depth: 0,
  isCut: false,
};
const SHOWN_MAX = 300;
const PATH_LENGTH_MAX = 4_096;

/** The path of a member. Servers often ignore case, so patterns do too. */
export function below(path: ParamPath, name: string): ParamPath {
  if (path.folded.length + name.length > PATH_LENGTH_MAX) return { ...path, isCut: true };
  const folded = `${path.folded}.${name.toLowerCase()}`;
  const plain = `${path.plain}.${compatible(name).toLowerCase()}`;
  const bare = `${path.bare}.${bareName(name)}`;
  const shown = path.shown === '' ? name : `${path.shown}.${name}`;
  const { isCut } = path;
  return { shown: shown.slice(0, SHOWN_MAX), folded, plain, bare, depth: path.depth + 1, isCut };
}

const PLAIN_NAME = /^[a-z0-9]*$/;

/** A name as a lenient server reads it: `forwardTo` is `forward_to`, `bcc[]` is `bcc`. */
function bareName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  const members = name.replace(/\[\s*\d*\s*\]/g, '').replace(/\[([^[\]]*)\]/g, '.$1');
  return members
    .split('.')
    .map(variantOf)
    .filter((part) => part !== '')
    .join('.');
}

/** A pattern over the name of the tool and the path: `*.bcc`, `gmail.send.*`. */
export function blockedPattern(source: string): PatternResult {
  return compiled(source, source.includes('.') ? source : `*.${source}`);
}

/** A pattern over the path alone. A name without a dot is meant at every depth. */
export function pathPattern(source: string): PatternResult {
  if (!source.includes('.')) return compiled(source, `*.${source}`);
  return compiled(source, /^[.*]/.test(source) ? source : `.${source}`);
}

function compiled(source: string, glob: string): PatternResult {
  const result = compileGlob(glob.toLowerCase());
  if (!result.ok) return { message: result.message };
  const testBare = bareTest(glob.toLowerCase());
  const prefix = /^[^\\*?[{]*/.exec(glob.toLowerCase())?.[0] ?? '';
  return { source, test: result.test, testBare, prefix };
}

/** Beside a sign with a meaning of its own a separator counts: `*_id` must not mean `valid`. */
const INTRICATE = /[\\[{?]|\*[^.*]|[^.*]\*/;

function bareTest(glob: string): NameTest | undefined {
  if (INTRICATE.test(glob)) return undefined;
  const bare = compileGlob(glob.normalize('NFKC').replace(/[\s_:/-]+/g, ''));
  return bare.ok ? bare.test : undefined;
}

/** Whether a pattern means this parameter, however its name is spelled. */
export function means({ test, testBare }: ParamPattern, path: ParamPath, tool = ''): boolean {
  const owner = tool.toLowerCase();
  if (test(owner + path.folded)) return true;
  const ownerPlain = compatible(tool).toLowerCase();
  if (test(ownerPlain + path.plain)) return true;
  return (testBare ?? test)(bareName(tool) + path.bare);
}

/** Whether a pattern over tool and path can mean a parameter of this tool at all. */
export function canMean({ prefix }: ParamPattern, tool: string): boolean {
  const owners = [tool.toLowerCase(), compatible(tool).toLowerCase()];
  const bare = bareName(prefix);
  return (
    owners.some((owner) => `${owner}.`.startsWith(prefix) || prefix.startsWith(`${owner}.`)) ||
    startsAlike(`${bareName(tool)}.`, prefix.endsWith('.') ? `${bare}.` : bare)
  );
}

function startsAlike(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left);
}
