// Variables that change what programs do, or that hold commands.
import type { ShellWord } from './reading.ts';
import type { ScriptOutline, Surroundings } from './script-outline.ts';
import { UNKNOWN } from './word-texts.ts';

/** Hold a command that another program runs. */
const COMMANDS =
  /^(?:\w*(?:PAGER|EDITOR|BROWSER|_COMMAND|_ASKPASS|_RSH)|VISUAL|FCEDIT|GIT_SSH|GIT_EXTERNAL_DIFF|LESSOPEN)$/;
/** Make programs load code that their names don't tell of. */
const LOADERS =
  /^(?:BASH_ENV|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_\w+|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_EXEC_PATH|GIT_CONFIG(?:_(?:PARAMETERS|GLOBAL|SYSTEM|(?:KEY|VALUE)_\d+))?|(?:GNU)?MAKEFLAGS|MAKEFILES|TAR_OPTIONS|WGETRC|CURL_HOME|GLOBIGNORE|GIT_WORK_TREE|GIT_ALLOW_PROTOCOL|SHELLOPTS|BASHOPTS|PS[0-4]|CDPATH|BASH_FUNC_\w*)$/;
const STANDARD_FOLDER =
  /^(?:\/(?:usr|bin|sbin|opt|snap|nix)\b|~\/|\.?\/?node_modules\/\.bin|\0|\*|$)/;

interface SetVariable {
  readonly name: string;
  readonly values: readonly string[];
}

export function isSpecialVariable(name: string): boolean {
  return (
    /^(?:PATH|HOME|ENV|IFS|NODE_OPTIONS|TMPDIR|GIT_TRACE\w*)$/.test(name) ||
    COMMANDS.test(name) ||
    LOADERS.test(name)
  );
}

/** Notes what a variable means that the line sets. */
export function noteVariable(
  outline: ScriptOutline,
  { name, values }: SetVariable,
  around: Surroundings,
): void {
  const { findings } = outline;
  for (const value of values) {
    if (name === 'HOME') {
      if (value !== '~') findings.homes.add(value.replaceAll(UNKNOWN, '*'));
    } else if (name === 'IFS') {
      if (value.includes(UNKNOWN)) findings.addOpaque('redefined', name);
    } else if (name === 'TMPDIR' || name.startsWith('GIT_TRACE')) {
      const isPath = name === 'TMPDIR' ? value !== '' : /[/.]/.test(value);
      if (isPath) findings.add('write', value, around.folders);
    } else if (name === 'PATH') {
      const isKnown = value.split(':').every((folder) => STANDARD_FOLDER.test(folder));
      if (!isKnown) findings.addOpaque('redefined', `PATH=${value}`);
    } else if (LOADERS.test(name) || isLoading(name, value)) {
      findings.addOpaque('redefined', `${name}=${value}`);
    } else if (COMMANDS.test(name) && value !== '') {
      outline.runScript(value.replace(/^\|/, ''), { ...around, depth: around.depth + 1 });
    }
  }
}

/** `ENV=production` is no file, and most options of Node load nothing. */
function isLoading(name: string, value: string): boolean {
  if (name === 'ENV') return value.includes('/');
  return (
    name === 'NODE_OPTIONS' &&
    /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b/.test(value)
  );
}

/** Whether an assignment holds for more than one command. */
export function isLasting([program]: readonly ShellWord[]): boolean {
  return (
    program === undefined ||
    /^(?:export|declare|local|typeset|readonly|eval|\.|source|command|builtin)$/.test(
      program.texts[0] ?? '',
    )
  );
}
