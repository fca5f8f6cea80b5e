// Writes the command of a hook, and recognizes one.
import { existsSync } from 'node:fs';
import { isSubName } from '../../../os/index.ts';
import { HOOKS_PATH } from '../../../stores/runs/hooks-socket.ts';
import { baseName } from '../shim-command.ts';
import type { ClientPlace } from '../types.ts';
import type { HookCall } from './types.ts';

export interface ReadHook {
  readonly client: string;
  /** The runtime and the script. */
  readonly program: readonly string[];
  readonly socket?: string;
}

const RUNTIME = /^(?:node|nodejs|bun)$/;
const COMMAND_LENGTH_MAX = 16_384;

/**
 * A hook that cannot start, crashes or is killed lets the tool run in Codex, in Gemini CLI and in old versions
 * of Claude Code: only exit code 2 with a reason refuses everywhere. It names no variable, because Gemini CLI
 * puts those of its own environment in place of `$NAME`, also between quotes.
 */
const GUARD =
  '"$@"; case $? in 0) exit 0;; 2) exit 2;; *) echo "Subluminal could not decide (exit code $?). Run sub doctor to see why." >&2; exit 2;; esac';
/**
 * The environment of a hook may come from a project: NODE_OPTIONS would make it say yes, HOME would lead
 * it to another policy. So it starts with an empty one.
 */
export function hookCommand(
  client: string,
  { program, homes, policy }: HookCall,
  socket?: string,
): string {
  const env = Object.entries({ ...homes, PATH: HOOKS_PATH }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const at = [
    ...(socket === undefined ? [] : ['--socket', socket]),
    ...(policy === undefined ? [] : ['--policy', policy]),
  ];
  const guarded = ['/bin/sh', '-c', GUARD, 'sh'];
  const emptied = ['/usr/bin/env', '-i', ...env];
  const words = [...guarded, ...emptied, ...program.map(quickest), 'hook', client, ...at];
  return words.map(quoted).join(' ');
}

/** What a hook must know of its user. */
export function homesIn({
  userHome,
  env,
}: Pick<ClientPlace, 'userHome' | 'env'>): HookCall['homes'] {
  const home = env['SUB_HOME'];
  return { HOME: userHome, ...(home && { SUB_HOME: home }) };
}

/** The launcher that starts hooks sooner stands beside the other one. */
function quickest(word: string): string {
  const other = word.replace(/(?<=\/sub\.)mjs$/, 'cjs');
  return other !== word && existsSync(other) ? other : word;
}

/** For `sh`, byte for byte: what is shown to people is made harmless elsewhere. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Undefined for the hook of anybody else. It proves nothing: any program may be called `sub`. */
export function readHookCommand(command: unknown): ReadHook | undefined {
  if (typeof command !== 'string' || command.length > COMMAND_LENGTH_MAX) return undefined;
  const words = shellWords(command);
  const at = words.findIndex(
    (word, index) => isSubName(baseName(word)) && words[index + 1] === 'hook',
  );
  const client = words[at + 2];
  if (at === -1 || client === undefined) return undefined;
  const runtime = words[at - 1] ?? '';
  const isRun = RUNTIME.test(baseName(runtime));
  const rest = words.slice(at + 3);
  const socket = rest[0] === '--socket' ? rest[1] : undefined;
  return {
    client,
    program: isRun ? [runtime, words[at] ?? ''] : [words[at] ?? ''],
    ...(socket !== undefined && { socket }),
  };
}

const WORD = /(?:[^\s'"\\]|'[^']*'|"[^"]*"|\\.)+/gs;
const PIECE = /'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)/gs;

function shellWords(command: string): readonly string[] {
  return (command.match(WORD) ?? []).map((word) => {
    const pieces = [...word.matchAll(PIECE)].map(([, ...forms]) => forms.join(''));
    return pieces.join('');
  });
}
