// What a command names beyond its words as they are written: what a shell makes of them.
import { readShell, type ShellReading, type ShellWord, UNKNOWN } from '../../shell/index.ts';
import { isRooted } from './path.ts';

/** Run the command that stands behind them. */
const WRAPPERS: ReadonlySet<string> = new Set(
  `sudo doas env nohup time exec command builtin xargs nice ionice timeout stdbuf setsid busybox
   unbuffer watch strace`.split(/\s+/),
);
const WRAPPERS_MAX = 8;
const FOLDER_OPTION = /^(?:-C|--directory|--cwd|--work-tree|--prefix)(?:=|$)/;
const FOLDERS_MAX = 4;
const JOINED_MAX = 256;
/** A folder of a process whose number only the shell knows. */
const SOME_PROCESS = new RegExp(`/proc/(?:${UNKNOWN}|\\$\\w{1,64})(?=/)`, 'g');
const SOCKET = /^\/dev\/(?:tcp|udp)\/([^/]+)/;

interface CommandNames {
  /** Words, and the parts of words that may name a host, an address or a path by themselves. */
  readonly names: ReadonlySet<string>;
  /** Paths that are made of a folder that the command goes to and a word. */
  readonly paths: readonly string[];
  /** The words of each command, those inside of others included. */
  readonly commands: readonly (readonly string[])[];
}

/** Everything that a command line names when a shell has read it. */
function commandNames(line: string): CommandNames {
  const reading = readShell(line);
  const names = new Set<string>();
  for (const { texts } of reading.words) {
    for (const text of texts) for (const part of partsOf(text)) names.add(part);
  }
  const commands = reading.commands.flatMap((words) => unwrapped(firstTexts(words)));
  return { names, commands, paths: joinedPaths(commands, names) };
}

/** `--url=evil.example`, `evil.example:/tmp`, `-xevil.example`, `/dev/tcp/evil.example/80`. */
function partsOf(word: string): readonly string[] {
  const text = word.replace(SOME_PROCESS, '/proc/self');
  const parts = [text];
  const [, host] = SOCKET.exec(text.replace(/\/{2,}/g, '/')) ?? [];
  if (host !== undefined) parts.push(host);
  const sign = text.indexOf('=');
  if (sign !== -1) parts.push(text.slice(sign + 1));
  if (/^-[A-Za-z]./.test(text)) parts.push(text.slice(2));
  for (const part of [...parts]) {
    const colon = part.search(/:(?!\/\/)/);
    if (colon > 0) parts.push(part.slice(0, colon), part.slice(colon + 1));
  }
  return parts;
}

function firstTexts(words: readonly ShellWord[]): readonly string[] {
  return words.map(({ texts }) => texts[0] ?? '');
}

/** The command, and the ones that it runs: `sudo env A=b curl x` → also `curl x`. */
function unwrapped(words: readonly string[]): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  let rest = words;
  for (let count = 0; count < WRAPPERS_MAX && rest.length > 0; count++) {
    while (/^\w+\+?=/.test(rest[0] ?? '')) rest = rest.slice(1);
    if (rest.length > 0) found.push(rest);
    const [name = ''] = rest;
    if (!WRAPPERS.has(name.slice(name.lastIndexOf('/') + 1))) break;
    rest = rest.slice(1);
    while (/^(?:-|\d)/.test(rest[0] ?? '')) rest = rest.slice(1);
  }
  return found;
}

/** `cd /etc && tee cron.d/x` names `/etc/cron.d/x`. */
function joinedPaths(
  commands: readonly (readonly string[])[],
  names: ReadonlySet<string>,
): readonly string[] {
  const folders = commands.flatMap(foldersIn).slice(0, FOLDERS_MAX);
  if (folders.length === 0) return [];
  const relative = [...names].filter((name) => /^[^-/~$\\]/.test(name) && !/\s/.test(name));
  return folders.flatMap((folder) => {
    return relative.slice(0, JOINED_MAX).map((name) => `${folder}/${name}`);
  });
}

function foldersIn(words: readonly string[]): readonly string[] {
  const [name = ''] = words;
  const isMove = name === 'cd' || name === 'pushd';
  return words.flatMap((word, index) => {
    const isFolder = isMove && index > 0 && !word.startsWith('-');
    if (isFolder) return [word];
    if (!FOLDER_OPTION.test(word)) return [];
    const sign = word.indexOf('=');
    const folder = sign === -1 ? words[index + 1] : word.slice(sign + 1);
    return folder === undefined || folder === '' ? [] : [folder];
  });
}

/** Programs that reach another machine. */
const OUTBOUND: ReadonlySet<string> = new Set(
  `curl wget aria2c http https xh lynx w3m links nc ncat netcat socat telnet ssh scp sftp rsync ftp
   tftp openssl dig nslookup host ping`.split(/\s+/),
);
/** Their options whose value is no destination. */
const NO_DESTINATION =
  /^(?:-[HdAbcDeFmoTuwXEiIlpO]|--(?:header|data(?:-\w+)?|json|form|user(?:-agent)?|cookie(?:-jar)?|output|request|max-time|write-out|cert|key|cacert|referer|timeout|retry))$/;
/** Of which everybody knows that they hold no address of a machine. */
const HARMLESS = /\$(?:HOME|PWD|OLDPWD|USER|LOGNAME|TMPDIR|SHELL)(?!\w)/g;

/** Whether a command reaches a machine whose name only the running shell knows. */
function reachesUnknown(line: string): boolean {
  // Without these two signs everything in it is known.
  if (!/[$`]/.test(line)) return false;
  const reading: ShellReading = readShell(line);
  if (!reading.isDynamic) return false;
  const isSocket = (text: string) => SOCKET.test(text) && isUnknown(SOCKET.exec(text)?.[1] ?? '');
  if (reading.words.some(({ texts }) => texts.some(isSocket))) return true;
  return reading.commands.some((command) => {
    const words = unwrapped(firstTexts(command)).at(-1) ?? [];
    const [name = ''] = words;
    if (!OUTBOUND.has(name.slice(name.lastIndexOf('/') + 1))) return false;
    return words.some((word, index) => index > 0 && hasUnknownHost(word, words[index - 1] ?? ''));
  });
}

function hasUnknownHost(word: string, before: string): boolean {
  if (NO_DESTINATION.test(before) || /^-[HdAbcDeFmoTuwXE]./.test(word)) return false;
  const value = word.replace(/^--[\w-]{1,40}=/, '');
  if (isRooted(value)) return false;
  const [authority = ''] = value.replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, '').split(/[/?#]/, 1);
  return isUnknown(authority);
}

function isUnknown(text: string): boolean {
  const rest = text.replace(HARMLESS, '');
  return rest.includes(UNKNOWN) || /\$\w/.test(rest);
}

export { commandNames, reachesUnknown };
