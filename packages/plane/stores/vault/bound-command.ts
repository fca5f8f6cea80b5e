// The command that a secret is bound to: servers of other configs may have the same name.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import { sha256 } from '../../os/crypto/index.ts';
import {
  attempt,
  findProgram,
  type ProgramPlace,
  realFile,
  writerProblem,
} from '../../os/index.ts';
import { unusableSecret } from './secret-file.ts';

/** Clients put something else in their place before they start the server. */
const VARIABLE = /\$\{[^}]*\}/;
const HIDDEN = 'sha256:';

/** A word that is not to be read in the settings. */
export function hiddenWord(word: string): string {
  return `${HIDDEN}${sha256(word)}`;
}

/** Word by word; `${…}` in a bound word stands for any text. */
export function fitsCommand(bound: readonly string[], words: readonly string[]): boolean {
  return bound.length === words.length && bound.every((one, at) => fits(one, words[at] ?? ''));
}

/** Whether a bound word is that very word, not one that a variable stands for. */
function isSameWord(bound: string, word: string): boolean {
  return bound === word || bound === hiddenWord(word);
}

function fits(bound: string, word: string): boolean {
  if (isSameWord(bound, word)) return true;
  const [start = '', ...parts] = bound.split(VARIABLE);
  const end = parts.pop();
  if (end === undefined || !word.startsWith(start)) return false;
  let at = start.length;
  // Each part as early as it can stand: if any place for all of them fits, this one does.
  for (const part of parts) {
    const found = word.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return word.length - end.length >= at && word.endsWith(end);
}

// Whether a server is started by the very program that a secret is bound to. The words of a command
// say too little: PATH and the working folder, which a project's config can set, decide what they find.

export interface BoundStart {
  /** Word by word, as `fitsCommand` takes it. */
  readonly command: readonly string[];
  /** An absolute path of the program; links are followed on both sides. */
  readonly program?: string | undefined;
  /** Absolute paths of the files that the words name, where these depend on folder or variables. */
  readonly files?: readonly string[] | undefined;
}

export interface StartedServer extends ProgramPlace {
  readonly words: readonly string[];
}

/** `other`: the words are those of another command. */
type StartFit = 'fits' | 'other' | Failure;

export function fitsStart(bound: BoundStart, started: StartedServer): StartFit {
  if (!fitsCommand(bound.command, started.words)) return 'other';
  return (
    programFault(bound, started) ?? fileFault(bound, started) ?? shadowFault(started) ?? 'fits'
  );
}

/** Where systems and package managers put programs, and where the runtime of this process is. */
const USUAL_FOLDERS = [
  dirname(process.execPath),
  ...['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'],
  '/opt/homebrew/bin',
];

function programFault(bound: BoundStart, started: StartedServer): Failure | undefined {
  const [word = ''] = started.words;
  const found = findProgram(word, started);
  const real = found === undefined ? undefined : realFile(found);
  if (found === undefined || real === undefined) {
    return unusableSecret(`\`${word}\` is no program that can be found.`, 'Correct its command.');
  }
  const why = writerProblem(real);
  if (why !== undefined) return writerFault(real, why);
  const { program } = bound;
  if (program !== undefined) {
    return realFile(program) === real ? undefined : otherProgram(word, { program, found });
  }
  if (isAbsolute(word) && isSameWord(bound.command[0] ?? '', word)) return undefined;
  if (!word.includes('/') && real === usualProgram(word)) return undefined;
  const message = `it is bound to the word \`${bound.command[0] ?? ''}\` alone, and here that starts ${found}, which may be any program.`;
  return unusableSecret(message, rebind(word));
}

function usualProgram(word: string): string | undefined {
  const found = findProgram(word, { cwd: '/', path: USUAL_FOLDERS.join(':') });
  return found === undefined ? undefined : realFile(found);
}

function otherProgram(
  word: string,
  { program, found }: { readonly program: string; readonly found: string },
): Failure {
  const gone = realFile(program) === undefined ? ', which is gone' : '';
  const message = `it is bound to the program ${program}${gone}, and here \`${word}\` starts ${found}.`;
  return unusableSecret(message, rebind(word));
}

/** What is found here is not offered: it may be what a project wants to be bound. */
function rebind(word: string): string {
  return `Run \`command -v ${word}\` in a terminal of yours, and write what it prints as \`program\` of the binding in config.toml.`;
}

function writerFault(path: string, why: string): Failure {
  return unusableSecret(`${path} ${why}.`, 'Make it your own, and writable by you alone.');
}

function fileFault(bound: BoundStart, started: StartedServer): Failure | undefined {
  const { files = [] } = bound;
  const named = filesNamed(bound.command, started);
  const known = files.map(realPathOrNone);
  const other = named.find((path, at) => realPathOrNone(path) !== known[at]) ?? files[named.length];
  if (other !== undefined) {
    const bindingFor = files.length === 0 ? 'no such file' : files.join(', ');
    return unusableSecret(
      `its command names ${other} by a word that depends on the folder or on variables, and the binding is for ${bindingFor}.`,
      'Name the file by its whole path in the config of the client and in `command` of the binding, or list it in `files` of the binding, if it is yours.',
    );
  }
  for (const path of named) {
    const why = writerProblem(path);
    if (why !== undefined) return writerFault(path, why);
  }
  return undefined;
}

const INTERPRETERS =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua|sh|bash|dash|zsh|ksh|fish)$/;
const SUBCOMMANDS: ReadonlySet<string> = new Set(['run', 'serve']);

/**
 * The files that the words name, unless the binding has the same whole path. An interpreter also takes
 * a folder for a script.
 */
export function filesNamed(
  bound: readonly string[],
  { words, cwd }: Pick<StartedServer, 'words' | 'cwd'>,
): readonly string[] {
  const isRun = INTERPRETERS.test(nameOf(words[0]));
  const script = words.findIndex(
    (word, at) => at > 0 && !word.startsWith('-') && !SUBCOMMANDS.has(word),
  );
  return words.flatMap((word, at) => {
    const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
    const isOption = word.startsWith('-') && !word.includes('=');
    if (at === 0 || isOption || value === '' || value.includes('\0')) return [];
    if (isAbsolute(value) && isSameWord(bound[at] ?? '', word)) return [];
    const path = resolve(cwd, value);
    const mayBeFolder = isRun && (at === script || /^\.{1,2}(?:\/|$)/.test(value));
    const ends = isRun && at === script ? SCRIPT_ENDS : [''];
    return ends.map((end) => `${path}${end}`).find((one) => isThere(one, mayBeFolder)) ?? [];
  });
}

/** `node server` runs `server.js`. */
const SCRIPT_ENDS = ['', '.js', '.mjs', '.cjs', '.ts', '.json', '.node'];

function isThere(path: string, mayBeFolder: boolean): boolean {
  const stats = attempt(() => statSync(path, { throwIfNoEntry: false }));
  return stats?.isFile() === true || (mayBeFolder && stats?.isDirectory() === true);
}

const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);
const PACKAGE = /^((?:@[^/@]+\/)?[^/@]+)(?:@.*)?$/;
const DEPTH_MAX = 128;

/** Some launchers look into the folder first, where a project can have a package of the same name. */
function shadowFault({ words, cwd }: StartedServer): Failure | undefined {
  const shadow = /^(?:python|pypy)[\d.]*$/.test(nameOf(words[0]))
    ? shadowModule(words, cwd)
    : shadowPackage(words, cwd);
  if (shadow === undefined) return undefined;
  return unusableSecret(
    `${nameOf(words[0])} would run ${shadow}, which belongs to the folder that it is started in.`,
    'Start it elsewhere (`cwd` of its entry), or name the program by its whole path in the config of the client and in `command` of the binding.',
  );
}

function shadowModule(words: readonly string[], cwd: string): string | undefined {
  const at = words.indexOf('-m');
  const [module = ''] = (at === -1 ? '' : (words[at + 1] ?? '')).split('.');
  if (module === '' || /[/\0]/.test(module)) return undefined;
  return [join(cwd, module), join(cwd, `${module}.py`)].find((path) => existsSync(path));
}

function shadowPackage(words: readonly string[], cwd: string): string | undefined {
  if (!PACKAGE_RUNNERS.has(nameOf(words[0]))) return undefined;
  const packages = packagesIn(words).flatMap((name) => PACKAGE.exec(name)?.[1] ?? []);
  let folder = cwd;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const found = packages
      .map((name) => join(folder, 'node_modules', name))
      .find((path) => existsSync(path));
    if (found !== undefined || dirname(folder) === folder) return found;
    folder = dirname(folder);
  }
  return undefined;
}

/** The packages that a launcher gets: by options, then by the first word that is no option. */
function packagesIn([, ...words]: readonly string[]): readonly string[] {
  const first = words.findIndex(
    (word, at) => !word.startsWith('-') && !/^(?:-p|--package)$/.test(words[at - 1] ?? ''),
  );
  const options = first === -1 ? words : words.slice(0, first);
  const named = options.map((word) => word.replace(/^--package=/, ''));
  return [...named.filter((word) => !word.startsWith('-')), ...words.slice(first).slice(0, 1)];
}

function nameOf(word = ''): string {
  return basename(word).replace(/\.(?:exe|cmd)$/, '');
}

function realPathOrNone(path: string): string | undefined {
  return attempt(() => realpathSync.native(path));
}
