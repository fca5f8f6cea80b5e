// A name as it stands in a call → the paths that a server, or a shell, may take it for.
import { UNKNOWN } from '../shell/word-texts.ts';
import { lexicalPath } from './lexical-path.ts';

interface NamePlace {
  readonly userHome: string;
  /** The environment of the server. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Whether the base name of anything protected stands in a text. */
  readonly isMentioned: (text: string) => boolean;
}

/** A name with more parts than this is looked at where something protected is mentioned. */
const PARTS_MAX = 12;
const DECODE_ROUNDS = 4;
/** Addresses of other machines. */
const REMOTE = /^(?:https?|wss?|ftps?|ssh|git|s3|gs|mailto|data|javascript|blob):/i;
const HOSTLESS = /^[a-z][a-z0-9+.-]{1,40}:\/(?:[^/]|\/\/)/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,40}:\/{0,3}/i;
/** A path that every reader takes for the same; not where the files of processes are. */
const PLAIN = /^(?!\/(?:proc|dev)\/)\/?\w[\w-]*(?:[./][\w-]+)*$/;
const SEPARATOR = /[=:@,+<>]/;
const SEPARATORS = /[=:@,+<>]/g;
const VARIABLE = /\$\{?([A-Za-z_]\w{0,63})\}?|%([A-Za-z_]\w{0,63})%/g;

/** Options written together, with a value behind them: `-uopolicy.yaml`. */
const OPTIONS = /^-[A-Za-z0-9]{1,12}/;
/** What sed writes and reads: `wpolicy.yaml`, `s/a/b/gwpolicy.yaml`. */
const FILE_COMMAND = /(?<![A-Za-z_.-])[gpiIeEmM\d]{0,4}[rRwW]/g;
const FILE_COMMANDS_MAX = 32;
/** A path from the top of a repository, or with words about how it is compared. */
const PATHSPEC = /^:(?:\/|\(([^()]{0,80})\)):?/;
/** Folders that a shell knows: where it is, where it was, and where it came through. */
const SHELL_FOLDER = /^~(?:[+-]\d{0,4}|\d{1,4})(?=\/|$)/;
/** The folder of a process, or one that it has open. */
const PROCESS_FOLDER =
  /^\/+(?:proc\/+[^/]+\/+(?:task\/+[^/]+\/+)?(?:cwd|fd\/+[^/]+)|dev\/+fd\/+[^/]+)(?=\/)/;
const PROCESS_ROOT = /^\/+proc\/+[^/]+\/+(?:task\/+[^/]+\/+)?root(?=\/)/;

/** Each once; relative ones stay relative. */
export function nameVariants(name: string, place: NamePlace): readonly string[] {
  if (PLAIN.test(name) && !place.isMentioned(name)) return [name];
  const found = new Set<string>();
  for (const text of new Set([name, withoutUriBreaks(name)].flatMap(decoded))) {
    for (const part of partsOf(text, place)) {
      const trimmed = part.trim();
      for (const one of [trimmed, trimmed.replace(/[.,:;!?]+$/, ''), normalized(part).trim()]) {
        // A server that is no shell takes the signs of one as they are.
        for (const path of new Set([expanded(one, place), normalized(one)])) {
          if (path === '' || path.includes('\n')) continue;
          found.add(path);
          if (path.includes('\\')) found.add(path.replaceAll('\\', '/'));
        }
      }
    }
  }
  return [...found];
}

/** Without what a later `..` takes back; one that leaves its folder stays as it is. */
export function normalized(path: string): string {
  if (!path.includes('..')) return path;
  return path.startsWith('/') ? lexicalPath(path) : relativePath(path);
}

function relativePath(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names.join('/') || '.';
}

/** A URI as its readers take it: without line breaks and tabs, and without blanks around it. */
export function withoutUriBreaks(text: string): string {
  if (!/[\0-\x20]/.test(text)) return text;
  const uri = text.replace(/^[\0-\x20]+|[\t\n\r]+/g, '');
  return SCHEME.test(uri) ? uri : text;
}

/** A text as it is written, and with its percent signs undone. */
export function decoded(name: string): readonly string[] {
  const texts = [name];
  for (let round = 0; round < DECODE_ROUNDS; round++) {
    const last = texts.at(-1) ?? '';
    const next = decodedOnce(last);
    if (next === last) break;
    texts.push(next);
  }
  return texts;
}

/** Whether a text has percent signs in percent signs, deeper than they are undone. */
export function isDecodedInPart(text: string): boolean {
  if (!text.includes('%')) return false;
  const last = decoded(text).at(-1) ?? '';
  return decodedOnce(last) !== last;
}

function decodedOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, percentDecoded);
}

function percentDecoded(run: string): string {
  try {
    // A NUL ends a path where it stands; we mark with it what is not known.
    return decodeURIComponent(run).replaceAll(UNKNOWN, '\n');
  } catch {
    return run;
  }
}

/** The path of a URI, and what stands behind `=`, `:`, `@` or the letter of an option. */
function partsOf(text: string, { isMentioned }: NamePlace): readonly string[] {
  const parts = [text];
  const file = text.search(/file:/i);
  if (file > 0) parts.push(...pathsOfUri(text.slice(file)));
  const isRemote = REMOTE.test(text) && !HOSTLESS.test(text);
  if (SCHEME.test(text) && !isRemote) parts.push(...pathsOfUri(text));
  if (isRemote) return parts;
  if (/^-[A-Za-z]./.test(text)) parts.push(text.slice(2));
  parts.push(...pathspecParts(text), ...elsewhere(text));
  if (isMentioned(text)) parts.push(...gluedParts(text));
  const between = text.split(SEPARATOR);
  if (between.length > PARTS_MAX) return [...parts, ...between.filter(isMentioned)];
  for (const { index } of text.matchAll(SEPARATORS)) {
    parts.push(text.slice(index + 1), text.slice(0, index));
  }
  return [...parts, ...between];
}

/** What stands behind several letters of options, or behind a command of sed. */
function gluedParts(text: string): readonly string[] {
  const [options = ''] = OPTIONS.exec(text) ?? [];
  const behind = [...options].map((_, index) => text.slice(index + 1));
  const commands = [...text.matchAll(FILE_COMMAND)];
  const chosen = [...commands.slice(0, FILE_COMMANDS_MAX), ...commands.slice(-FILE_COMMANDS_MAX)];
  return [...behind, ...chosen.map(({ 0: sign, index }) => text.slice(index + sign.length))];
}

/** `:/policy.yaml`, `:(top)policy.yaml`; what is left out is free. */
function pathspecParts(text: string): readonly string[] {
  const [sign, words = ''] = PATHSPEC.exec(text) ?? [];
  if (sign === undefined || words.includes('exclude')) return [];
  const path = text.slice(sign.length);
  return words.includes('icase') ? [path, path.toLowerCase()] : [path];
}

/** A folder that only the running shell knows may be the one that names start in. */
function elsewhere(text: string): readonly string[] {
  const here = text.replace(SHELL_FOLDER, '.').replace(PROCESS_FOLDER, '.');
  return [here, text.replace(PROCESS_ROOT, '')].filter((path) => path !== text);
}

function pathsOfUri(text: string): readonly string[] {
  const [path = ''] = text.split(/[?#!]/, 1);
  const rest = path.replace(SCHEME, '');
  const slash = rest.indexOf('/');
  // With a host before the path, and without one.
  const behindHost = slash === -1 ? [] : [rest.slice(slash), rest.slice(slash + 1)];
  return [`/${rest}`, rest, ...behindHost];
}

function expanded(path: string, { userHome, env }: NamePlace): string {
  const home = path
    .replace(/^~(?=[/\\]|$)/, () => userHome)
    .replace(/^~([\w.-]+)(?=\/|$)/, (whole, user) => {
      return user === env['USER'] || user === env['LOGNAME'] ? userHome : whole;
    });
  if (!/[$%]/.test(home)) return home;
  return home.replace(VARIABLE, (whole, unix?: string, windows?: string) => {
    const name = unix ?? windows ?? '';
    if (name === 'HOME' || name === 'USERPROFILE') return userHome;
    return env[name] ?? (unix === undefined ? whole : UNKNOWN);
  });
}
