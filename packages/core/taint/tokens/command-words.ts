// What a command names beyond its words as they are written: what a shell makes of them.
import {
  readShell,
  type ShellReading,
  type ShellWord,
  UNKNOWN,
  WRAPPER_NAMES,
} from '../../shell/index.ts';
import { programOf } from './command.ts';
import { looksLikeHost, plainNumberHost } from './host.ts';
import { isRooted } from './path.ts';

/** Run the command that stands behind them, and behind their options. */
const WRAPPERS: ReadonlySet<string> = new Set([
  ...WRAPPER_NAMES,
  ...['!', 'if', 'elif', 'while', 'until'],
]);
/** Words that may stand between a wrapper and the command that it runs. */
const WRAPPED_MAX = 8;
/** More than a command is remembered by. */
const COMPARED_MAX = 20;
/** Ways to put together one command, and all commands of a line. */
const WORDINGS_MAX = 512;
const WORDINGS_OF_LINE_MAX = 8_192;
const FOLDER_OPTION = /^(?:-C|--directory|--cwd|--work-tree|--prefix)(?:=|$)/;
const FOLDERS_MAX = 64;
const JOINED_MAX = 16_384;
/** A folder of a process whose number only the shell knows. */
const SOME_PROCESS = new RegExp(`/proc/(?:${UNKNOWN}|\\$\\w{1,64})(?=/)`, 'g');
/** Several options in one word; a value may stand behind any of them. */
const OPTIONS = /^-[A-Za-z0-9]{2,8}/;
const SOCKET = /^\/dev\/(?:tcp|udp)\/([^/]+)/;

interface CommandNames {
  readonly reading: ShellReading;
  /** Words, and the parts of words that may name a host, an address or a path by themselves. */
  readonly names: ReadonlySet<string>;
  /** Paths that are made of a folder that the command goes to and a word. */
  readonly paths: readonly string[];
  /** The words of each command, those inside of others included, in each way that they may be. */
  readonly commands: readonly (readonly string[])[];
  /** False when there is more than the limits allow, so that any name may be missing. */
  readonly isWhole: boolean;
}

/** Everything that a command line names when a shell has read it. */
export function commandNames(line: string): CommandNames {
  const reading = readShell(line);
  const names = new Set<string>();
  for (const { texts } of reading.words) {
    for (const text of texts) for (const part of partsOf(text)) names.add(part);
  }
  const wordings = wordingsIn(reading.commands);
  const joined = joinedPaths(reading.commands, names);
  return {
    reading,
    names,
    commands: wordings.found.flatMap(unwrapped),
    paths: joined.found,
    isWhole: reading.isWhole && wordings.isWhole && joined.isWhole,
  };
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
  return [...parts, ...hostsInside(text, parts)];
}

/** Hosts that stand deeper in a word: `a:80:evil.example:80`, `-fsSLxevil.example`, `0xcb.0.113.77`. */
function hostsInside(text: string, parts: readonly string[]): readonly string[] {
  const pieces = text.includes('://') ? [] : text.split(/[=:]/).filter(looksLikeHost);
  const [options = ''] = text.includes('.') ? (OPTIONS.exec(text) ?? []) : [];
  const glued = [...options].slice(2).map((_, index) => {
    return text.slice(index + 3).split(':', 1)[0] ?? '';
  });
  const numbers = [...parts, ...text.split(/[=:]/)].flatMap((part) => {
    return plainNumberHost(part.split(/[/?#]/, 1)[0] ?? '') ?? [];
  });
  return [...pieces, ...glued.filter(looksLikeHost), ...numbers];
}

interface FoundWords<T> {
  readonly found: readonly T[];
  readonly isWhole: boolean;
}

/** Each command, with each text of each of its words. */
function wordingsIn(commands: ShellReading['commands']): FoundWords<readonly string[]> {
  const found: (readonly string[])[] = [];
  for (const command of commands) {
    const words = command.slice(0, COMPARED_MAX).map(({ texts }) => texts);
    const count = words.reduce((ways, texts) => ways * Math.max(1, texts.length), 1);
    if (count > WORDINGS_MAX || found.length + count > WORDINGS_OF_LINE_MAX) {
      return { found, isWhole: false };
    }
    found.push(...wordingsOf(words));
  }
  return { found, isWhole: true };
}

/** What is empty without quotes is no word. */
function wordingsOf(words: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return words.reduce<readonly (readonly string[])[]>(
    (starts, texts) =>
      starts.flatMap((start) => texts.map((text) => (text === '' ? start : [...start, text]))),
    [[]],
  );
}

/** The command, and what it may run: `sudo -u me curl x` → also `curl x`. */
function unwrapped(words: readonly string[]): readonly (readonly string[])[] {
  const start = words.findIndex((word) => !isAssignment(word));
  if (start === -1) return [];
  const own = words.slice(start);
  if (!WRAPPERS.has(programOf(own[0] ?? ''))) return [own];
  const tails = own.slice(1, 1 + WRAPPED_MAX).map((_, index) => own.slice(index + 1));
  return [own, ...tails];
}

function isAssignment(word: string): boolean {
  return /^\w+\+?=/.test(word);
}

/** `cd /etc && tee cron.d/x` names `/etc/cron.d/x`. */
function joinedPaths(
  commands: ShellReading['commands'],
  names: ReadonlySet<string>,
): FoundWords<string> {
  const folders = new Set(commands.flatMap(foldersIn));
  if (folders.size === 0) return { found: [], isWhole: true };
  const relative = [...names].filter((name) => /^[^-/~$\\]/.test(name) && !/\s/.test(name));
  if (folders.size > FOLDERS_MAX || folders.size * relative.length > JOINED_MAX) {
    return { found: [], isWhole: false };
  }
  const found = [...folders].flatMap((folder) => relative.map((name) => `${folder}/${name}`));
  return { found, isWhole: true };
}

function foldersIn(words: readonly ShellWord[]): readonly string[] {
  const move = words.findIndex(({ texts }) => texts.includes('cd') || texts.includes('pushd'));
  return words
    .flatMap(({ texts }, index) => {
      if (move !== -1 && index > move) return texts.filter((text) => !text.startsWith('-'));
      return texts.flatMap((text) => {
        if (!FOLDER_OPTION.test(text)) return [];
        const sign = text.indexOf('=');
        return sign === -1 ? (words[index + 1]?.texts ?? []) : [text.slice(sign + 1)];
      });
    })
    .filter((folder) => folder !== '');
}

/** Programs that reach another machine. */
const OUTBOUND: ReadonlySet<string> = new Set(
  `curl wget aria2c xh lynx w3m nc ncat netcat socat telnet ssh scp sftp rsync tftp openssl
   nslookup`.split(/\s+/),
);
/** The same, but a word like any other where it is not the program that a command runs. */
const ORDINARY: ReadonlySet<string> = new Set('http https links ftp dig host ping'.split(' '));
/** Give each line that they read to the program behind them. */
const FEEDERS: ReadonlySet<string> = new Set(['xargs', 'parallel']);
/** Take the names of programs, and run none of them. */
const NAMERS: ReadonlySet<string> = new Set(
  'grep egrep fgrep rg ag which whereis man apt apt-get apk brew dnf yum'.split(' '),
);
/** Options of outbound programs whose value is no destination. */
const NO_DESTINATION =
  /^(?:-[HdAbcDeFmoTuwXEiIlpO]|--(?:header|data(?:-\w+)?|json|form|user(?:-agent)?|cookie(?:-jar)?|output|request|max-time|write-out|cert|key|cacert|referer|timeout|retry))$/;
/** Variables that never hold the address of a machine. */
const HARMLESS = /\$(?:HOME|PWD|OLDPWD|USER|LOGNAME|TMPDIR|SHELL)(?!\w)/g;

/**
 * Whether a command may reach a machine whose name cannot be checked: because only the running
 * shell knows it, or because there is more in the command than is looked at.
 */
export function reachesUnknown(line: string): boolean {
  const { reading, isWhole } = commandNames(line);
  if (!isWhole) return true;
  const isSocket = (text: string) => isUnknown(SOCKET.exec(text)?.[1] ?? '');
  if (reading.words.some(({ texts }) => texts.some(isSocket))) return true;
  return reading.commands.some(hasUnknownDestination);
}

/** Wherever the program stands: what a wrapper takes for its options, only the wrapper knows. */
function hasUnknownDestination(command: readonly ShellWord[]): boolean {
  const words = command.filter(({ isProse }) => !isProse).map(({ texts }) => texts);
  const own = words.find((texts) => !texts.every(isAssignment))?.map(programOf) ?? [];
  if (own.every((name) => NAMERS.has(name))) return false;
  const isWrapped = own.some((name) => WRAPPERS.has(name));
  const isOutbound = (text: string) => {
    const name = programOf(text);
    return OUTBOUND.has(name) || (ORDINARY.has(name) && (isWrapped || own.includes(name)));
  };
  const program = words.findIndex((texts) => texts.some(isOutbound));
  if (program === -1) return false;
  const before = words.slice(0, program).flat();
  if (before.some((text) => FEEDERS.has(programOf(text)))) return true;
  return words.slice(program).some((texts, index, all) => {
    // `{curl,$HOST}` is a program and its argument.
    if (index === 0) return texts.slice(texts.findIndex(isOutbound)).some(hasUnknownHost);
    if (all[index - 1]?.every((text) => NO_DESTINATION.test(text))) return false;
    return texts.some(hasUnknownHost);
  });
}

function hasUnknownHost(word: string): boolean {
  if (/^-[HdAbcDeFmoTuwXE]./.test(word)) return false;
  const value = word.replace(/^--[\w-]{1,40}=/, '');
  if (isRooted(value)) return false;
  const [authority = ''] = value.replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, '').split(/[/?#]/, 1);
  return isUnknown(authority);
}

function isUnknown(text: string): boolean {
  const rest = text.replace(HARMLESS, '');
  return rest.includes(UNKNOWN) || /\$\w/.test(rest);
}
