// Builtins and sums that give variables a value which only the running shell knows.
import type { Budget } from './budget.ts';
import type { ShellWord } from './reading.ts';

/** Stand before the builtin that a command runs. */
const LEADERS: ReadonlySet<string> = new Set(
  'while until if elif ! time builtin command'.split(' '),
);
const NAME = /^[A-Za-z_]\w*(?=$|\[|=|\+=)/;
const NAMES = /[A-Za-z_]\w*/g;
/** A variable of a sum that is changed in it: `a=5`, `a+=b`, `a++`, `--a`. */
const CHANGED =
  /(?:\+\+|--)\s{0,8}([A-Za-z_]\w*)|([A-Za-z_]\w*)\s{0,8}(?:\+\+|--|[-+*/%&|^<>]{0,2}=)/g;
/** A longer sum is looked at up to here. */
const SUM_LENGTH_MAX = 256;

/** The variables that a command gives a value, or `all` that there are. */
export function variablesSetBy(words: readonly ShellWord[]): readonly string[] | 'all' {
  const start = words.findIndex(({ texts: [text = ''] }) => {
    return !LEADERS.has(text) && !/^\w+\+?=/.test(text);
  });
  if (start === -1) return [];
  const given = words.slice(start + 1);
  switch (words[start]?.texts[0]) {
    case '.':
    case 'source':
      return 'all';
    case 'read':
      return ['REPLY', ...namesIn(given)];
    case 'mapfile':
    case 'readarray':
      return ['MAPFILE', ...namesIn(given)];
    case 'getopts':
      return ['OPTARG', ...namesIn(given)];
    case 'let':
      return given.flatMap(({ texts }) => texts.flatMap((text) => text.match(NAMES) ?? []));
    case 'printf':
      return namesBehind('-v', given);
    case 'wait':
      return namesBehind('-p', given);
    case 'declare':
    case 'local':
    case 'typeset':
      // By the name of another variable, or as a sum.
      return given.some(({ texts }) => texts.some((text) => /^-\w*[ni]/.test(text)))
        ? namesIn(given)
        : [];
    default:
      return [];
  }
}

function namesIn(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap(({ texts }) => texts.flatMap((text) => NAME.exec(text) ?? []));
}

/** `-v name` and `-vname`. */
function namesBehind(option: string, words: readonly ShellWord[]): readonly string[] {
  const [first] = words;
  if (first?.texts.includes(option) === true) return namesIn(words.slice(1, 2));
  const glued = (first?.texts ?? []).filter((text) => text.startsWith(option));
  return glued.flatMap((text) => NAME.exec(text.slice(option.length)) ?? []);
}

/** The variables that `((…))` changes, which begins there. */
export function variablesOfSum(text: string, at: number, budget: Budget): readonly string[] {
  const window = text.slice(at, at + SUM_LENGTH_MAX);
  const end = window.indexOf('))');
  const sum = end === -1 ? window : window.slice(0, end);
  if (!budget.takes(sum.length)) return [];
  return [...sum.matchAll(CHANGED)].map(([, before, behind]) => before ?? behind ?? '');
}
