// Commands that reach a machine whose name nobody can look at.
import { type ShellWord, UNKNOWN } from '../../shell/index.ts';
import { commandNames, isAssignment, programOf, SOCKET, WRAPPERS } from './command-words.ts';
import { isRooted } from './path.ts';

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
/** Of which everybody knows that they hold no address of a machine. */
const HARMLESS = /\$(?:HOME|PWD|OLDPWD|USER|LOGNAME|TMPDIR|SHELL)(?!\w)/g;

/**
 * Whether a command may reach a machine whose name nobody can look at: because only the running
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
