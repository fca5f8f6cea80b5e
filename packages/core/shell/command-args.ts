// The shell commands among the arguments of a call, by the names that clients and servers give to arguments.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';

/** Names of arguments that are commands wherever they stand, without case, `_` and `-`. */
const COMMAND_KEY =
  /(?:command(?:s|line|string|text)?|cmd)$|^(?:cmds|cmdline|argv|shellscript|bashscript)$/;
/** Commands only where the name of the tool, or a language beside them, says that a shell reads them. */
const SHELL_KEY = /^(?:script|code|exec|execute|run|input|stdin|bash|entrypoint)$/;
const LIST_KEY = /^(?:cmds|.*commands)$/;
const SHELL_TOOL = /(?:^|[\W_])(?:sh|bash|zsh|shell|terminal|console|command|cmd|ssh)(?=[\W_]|$)/i;
/** Has a grammar of its own. */
const OTHER_SHELL = /power_?shell|pwsh|cmd\.exe/i;
const LANGUAGE_KEY = /^(?:language|lang|interpreter|runtime|shell)$/;
const SHELL_NAME = /^(?:(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/bin\/)?(?:ba|z|da|k|a)?sh$|^shell$/;
const ARGS_KEY = /^(?:args|arguments)$/;
const ENV_KEY = /^(?:env|environment|environmentvariables|envvars)$/;
const FOLDER_KEY = /^(?:cwd|workdir|workingdir|workingdirectory|directory|dir|dirpath)$/;
/** The folder that a hook tells, and the arguments that the shell tools of clients have for it. */
const CLIENT_FOLDER_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['claude-code', ['cwd']],
  ['codex', ['cwd', 'workdir']],
  ['copilot-cli', ['cwd']],
  ['cursor', ['cwd', 'working_directory']],
  ['gemini-cli', ['cwd', 'dir_path']],
]);
const FOLDERS_MAX = 4;
/** Codex calls its patches `command`. */
const PATCH_TOOL = { server_name: 'codex', tool_name: 'apply_patch' };
const PATCH = /^\s*\*\*\* Begin Patch\s/;
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

const DEPTH_MAX = 64;
const NODES_MAX = 10_000;
const LINES_MAX = 256;
const CHARS_MAX = 262_144;

export interface GivenCommand {
  readonly line: string;
  /** The folders that it may run in; undefined is the one where the tool is. */
  readonly folders: readonly (string | undefined)[];
  /** Another shell reads it, or in other ways than its words say. */
  readonly isObscured: boolean;
}

export interface GivenCommands {
  readonly commands: readonly GivenCommand[];
  /** False when there was more than the limits allow. */
  readonly isWhole: boolean;
}

export interface ToolNames {
  readonly server_name: string;
  readonly tool_name: string;
}

/** The arguments with a patch of Codex under the name `patch`: what it holds is not run. */
export function withPatchNamed(tool: ToolNames, args: JsonObject): JsonObject {
  const { command, ...rest } = args;
  const hasPatch = typeof command === 'string' && isPatch(tool, command);
  return hasPatch ? { ...rest, patch: command } : args;
}

function isPatch({ server_name, tool_name }: ToolNames, text: string): boolean {
  const isTool = server_name === PATCH_TOOL.server_name && tool_name === PATCH_TOOL.tool_name;
  return isTool && PATCH.test(text);
}

/** Every command that a call asks to run. */
export function commandsInArgs(tool: ToolNames, args: JsonObject): GivenCommands {
  const { server_name, tool_name } = tool;
  const names = `${server_name} ${tool_name}`.replace(/([a-z\d])([A-Z])/g, '$1_$2');
  const commands: GivenCommand[] = [];
  let isWhole = true;
  let nodesLeft = NODES_MAX;
  let charsLeft = CHARS_MAX;
  const visit = (value: JsonValue, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEPTH_MAX || --nodesLeft < 0) isWhole = false;
    else if (!isJsonObject(value)) for (const item of value) visit(item, depth + 1);
    else {
      const around = surroundings(value, { names, server_name });
      for (const [key, member] of Object.entries(value)) {
        visit(member, depth + 1);
        for (const line of linesOf(foldedName(key), member, around)) {
          if (isPatch(tool, line)) continue;
          charsLeft -= line.length;
          if (charsLeft < 0 || commands.length >= LINES_MAX) isWhole = false;
          else commands.push({ line, folders: around.folders, isObscured: around.isObscured });
        }
      }
    }
  };
  visit(args, 0);
  return { commands, isWhole };
}

interface Surroundings {
  readonly isShell: boolean;
  readonly isObscured: boolean;
  readonly folders: readonly (string | undefined)[];
  /** The arguments of a command that is given as the name of a program. */
  readonly words: readonly string[];
}

/** What stands beside a command, in the same object. */
function surroundings(
  around: JsonObject,
  { names, server_name }: { readonly names: string; readonly server_name: string },
): Surroundings {
  const named = (keys: RegExp) =>
    Object.entries(around).flatMap(([key, value]) => (keys.test(foldedName(key)) ? [value] : []));
  const languages = named(LANGUAGE_KEY).filter((value) => typeof value === 'string');
  const isOther = [names, ...languages].some((text) => OTHER_SHELL.test(text));
  const isRedirected = named(/^shell$/).some(
    (value) => typeof value === 'string' && !SHELL_NAME.test(value.toLowerCase()),
  );
  const setsVariables = named(ENV_KEY).some(
    (value) => isJsonObject(value) && Object.keys(value).length > 0,
  );
  return {
    isShell:
      SHELL_TOOL.test(names) || languages.some((text) => SHELL_NAME.test(text.toLowerCase())),
    isObscured: isOther || isRedirected || setsVariables,
    folders: foldersIn(around, CLIENT_FOLDER_KEYS.get(server_name)),
    words: named(ARGS_KEY).flatMap(wordsOf),
  };
}

/**
 * A client's tool ignores arguments that it does not have, and so a model could move a command elsewhere by one.
 * Whether another tool heeds one is not known: the command may run in both folders.
 */
function foldersIn(
  around: JsonObject,
  keys: readonly string[] | undefined,
): readonly (string | undefined)[] {
  const given = Object.entries(around).flatMap(([key, value]) => {
    return typeof value === 'string' && value !== '' ? [[key, value] as const] : [];
  });
  if (keys === undefined) {
    const named = given.flatMap(([key, value]) =>
      FOLDER_KEY.test(foldedName(key)) ? [value] : [],
    );
    return [...new Set([undefined, ...named])].slice(0, FOLDERS_MAX);
  }
  const own = keys.flatMap((key) =>
    given.flatMap(([name, value]) => (name === key ? [value] : [])),
  );
  const isAlone = (folder: string) => /^[/~]/.test(folder);
  return [
    own.reduce<string | undefined>((at, folder) => {
      return at === undefined || isAlone(folder) ? folder : `${at}/${folder}`;
    }, undefined),
  ];
}

/** The command lines that an argument holds; none where it is no command. */
function linesOf(
  key: string,
  value: JsonValue,
  { isShell, words }: Surroundings,
): readonly string[] {
  if (!COMMAND_KEY.test(key) && !(isShell && SHELL_KEY.test(key))) return [];
  const rest = words.length === 0 ? '' : ` ${words.join(' ')}`;
  if (typeof value === 'string') return value.trim() === '' ? [] : [value + rest];
  if (!Array.isArray(value)) return [];
  if (LIST_KEY.test(key)) {
    return value.flatMap((item: JsonValue) => linesOf('command', item, { ...NONE, words }));
  }
  const argv = wordsOf(value);
  return argv.length === 0 ? [] : [argv.join(' ') + rest];
}

const NONE: Surroundings = { isShell: false, isObscured: false, folders: [], words: [] };

/** A list of words as a shell would write it; a text is taken as it stands. */
function wordsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (!Array.isArray(value)) return [];
  return value.map((item: JsonValue) =>
    quotedWord(typeof item === 'string' ? item : JSON.stringify(item)),
  );
}

function quotedWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function foldedName(key: string): string {
  return key.toLowerCase().replace(/[_\s-]/g, '');
}
