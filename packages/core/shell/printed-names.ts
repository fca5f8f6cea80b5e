// What `$(…)` prints, where a program prints a known name or one without a slash.
import { UNKNOWN } from './word-texts.ts';

/** Print a number, a date or a name: no path, but it may be a part of one. */
const NAMES: ReadonlySet<string> = new Set(
  'nproc whoami hostname uname arch wc uptime logname tput seq'.split(' '),
);
const REVISION = /^(?:rev-parse|describe|merge-base|rev-list|branch|symbolic-ref|write-tree)$/;

/** The text that a command prints; `*` stands for a name that only the running shell knows. */
export function printedName(words: readonly string[]): string | undefined {
  const [program = '', ...args] = words;
  const operands = args.filter((word) => !word.startsWith('-'));
  const [first = '', second = ''] = operands;
  if (program === 'pwd') return '.';
  if (program === 'which' || (program === 'command' && args[0] === '-v')) return nonEmpty(first);
  if (NAMES.has(program)) return '*';
  if (program === 'id') return args.length > 0 ? '*' : undefined;
  if (program === 'date') return args.some((word) => word.includes('/')) ? undefined : '*';
  if (program === 'git') {
    const isFolder = args.some(
      (word) => /^--(?:show-|git-|absolute-)\w+/.test(word) && word !== '--show-current',
    );
    return REVISION.test(first) && !isFolder ? '*' : undefined;
  }
  if (program === 'mktemp')
    return operands.length === 0 && !args.includes('-p') ? '/tmp/*' : undefined;
  if (first === '' || first.includes(UNKNOWN)) return undefined;
  if (program === 'realpath' || program === 'readlink') return first;
  const path = first.replace(/\/+$/, '');
  const slash = path.lastIndexOf('/');
  if (program === 'dirname') return slash === -1 ? '.' : path.slice(0, slash) || '/';
  if (program !== 'basename') return undefined;
  const name = path.slice(slash + 1);
  return second !== '' && name.endsWith(second) ? name.slice(0, -second.length) : name;
}

function nonEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}
