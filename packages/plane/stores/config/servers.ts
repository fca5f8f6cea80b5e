// The tables [servers.NAME] of config.toml: which secrets each server gets. What stands under
// `secret_ref` is never shown: somebody may have put the secret itself there.
import { isAbsolute } from 'node:path';
import { type ConfigFailure, configFailure, shown } from './config-failure.ts';
import { readSecretRef, type SecretSource, SOURCES } from './secret-ref.ts';
import { isReservedName, isTable, suggestion, type TomlTable } from './values.ts';

/** One secret of one server. */
export interface SecretBinding {
  /** The variable that the server finds it in. */
  readonly injectAs: string;
  /**
   * Its name: a variable for `env`; a file of `$SUB_HOME/secrets`, or a path, for `file`; service
   * and account for `keychain`; a name in our own store, `vault://…` or `op://…` for `vault`.
   */
  readonly secretRef: string;
  readonly source: SecretSource;
  /** Whether its value is taken out of all that is recorded. */
  readonly redact: boolean;
  /** What the server must be started by to get it, word by word; anything without one. */
  readonly command?: readonly string[];
  /** The absolute path of the program that the command must start. */
  readonly program?: string;
  /** Absolute paths of the files that its words must name, where these depend on folder or variables. */
  readonly files?: readonly string[];
}

export interface ServerConfig {
  readonly secretBindings: readonly SecretBinding[];
}

/** By the exact name of the server. */
export type Servers = ReadonlyMap<string, ServerConfig>;

interface ReadServers {
  readonly servers: Servers;
  readonly problems: readonly ConfigFailure[];
}

type KeyPath = readonly string[];

interface BindingFault {
  readonly path: KeyPath;
  readonly code: 'SUB_CONFIG_KEY' | 'SUB_CONFIG_VALUE';
  readonly message: string;
  readonly fix: string;
  /** A word that may be misspelt, and what there is. */
  readonly word?: string;
  readonly known?: readonly string[];
}

interface Reading {
  readonly faults: BindingFault[];
  /** Whether a text has the form of a known secret. */
  readonly isSecret: (text: string) => boolean;
}

const BINDING_KEYS = ['inject_as', 'secret_ref', 'source', 'redact', 'command', 'program', 'files'];
const SERVER_KEYS = ['secret_bindings'];
const SERVERS_MAX = 256;
const SERVER_NAME_LENGTH_MAX = 256;
const BINDINGS_MAX = 64;
const NAME_LENGTH_MAX = 128;
const COMMAND_WORDS_MAX = 256;
const COMMAND_WORD_LENGTH_MAX = 4_096;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads what stands under `servers`; `where` gives the place of a key in the file. */
export async function readServers(
  value: unknown,
  where: (path: KeyPath) => string,
): Promise<ReadServers> {
  if (value === undefined) return { servers: new Map(), problems: [] };
  const { createRedactor } = await import('@subluminal/core/scan');
  const { redact } = createRedactor({});
  const reading: Reading = { faults: [], isSecret: (text) => redact(text).found.length > 0 };
  const servers = new Map<string, ServerConfig>();
  if (!isTable(value)) {
    const fix = 'Write it as [[servers.NAME.secret_bindings]].';
    wrong(reading, ['servers'], { message: '`servers` is not a table', fix });
  } else {
    for (const [name, one] of entriesOf(reading, value)) {
      servers.set(name, { secretBindings: readServer(reading, name, one) });
    }
  }
  const problems = reading.faults.map(async (fault) => {
    const { code, message, path, word = '', known = [] } = fault;
    const fix = await suggestion(word, known, fault.fix);
    return configFailure(code, where(path), { message, fix });
  });
  return { servers, problems: await Promise.all(problems) };
}

function entriesOf(reading: Reading, table: TomlTable): readonly [string, unknown][] {
  const entries = Object.entries(table);
  if (entries.length > SERVERS_MAX) {
    const message = `\`servers\` has ${entries.length} servers`;
    wrong(reading, ['servers'], { message, fix: `Name at most ${SERVERS_MAX}.` });
  }
  return entries.slice(0, SERVERS_MAX);
}

function readServer(reading: Reading, name: string, value: unknown): readonly SecretBinding[] {
  const path = ['servers', name];
  if (name === '' || name.length > SERVER_NAME_LENGTH_MAX || /\p{C}/u.test(name)) {
    const fix = `Write a name of 1 to ${SERVER_NAME_LENGTH_MAX} characters, without control characters.`;
    wrong(reading, path, { message: `\`servers.${shown(name)}\` is no name of a server`, fix });
  }
  if (!isTable(value)) {
    const fix = `Write it as [[servers.NAME.secret_bindings]].`;
    wrong(reading, path, { message: `\`servers.${shown(name)}\` is not a table`, fix });
    return [];
  }
  noOtherKeys(reading, value, { path, known: SERVER_KEYS });
  const list = value['secret_bindings'] ?? [];
  const here = [...path, 'secret_bindings'];
  if (!Array.isArray(list) || list.length > BINDINGS_MAX) {
    const message = `\`${shown(here.join('.'))}\` is not a list of at most ${BINDINGS_MAX} tables`;
    wrong(reading, here, { message, fix: 'Write it as [[servers.NAME.secret_bindings]].' });
    return [];
  }
  const seen = new Map<string, (string | undefined)[]>();
  return list.flatMap((one: unknown, index) => {
    const at = [...here, String(index)];
    const [binding] = readBinding(reading, one, at);
    if (binding === undefined) return [];
    const variable = binding.injectAs.toUpperCase();
    const { command: words, program = null, files = [] } = binding;
    const command = words && JSON.stringify([words, program, files]);
    const others = seen.get(variable) ?? [];
    // For two commands it may have two values.
    if (others.some((other) => !other || !command || other === command)) {
      const message = `\`inject_as\`: \`${binding.injectAs}\` stands twice for one server`;
      const fix = 'Remove one of the two bindings, or give each a `command` of its own.';
      wrong(reading, [...at, 'inject_as'], { message, fix });
    }
    seen.set(variable, [...others, command]);
    return [binding];
  });
}

function readBinding(reading: Reading, value: unknown, path: KeyPath): readonly SecretBinding[] {
  if (!isTable(value)) {
    const fix = 'Write it as [[servers.NAME.secret_bindings]].';
    wrong(reading, path, { message: 'a binding is not a table', fix });
    return [];
  }
  noOtherKeys(reading, value, { path, known: BINDING_KEYS });
  const injectAs = readInjectAs(reading, value, path);
  const source = readSource(reading, value, path);
  const place = source === undefined ? undefined : readRef(reading, value, { path, ...source });
  const { redact = true } = value;
  if (typeof redact !== 'boolean') {
    const message = '`redact` is neither true nor false';
    wrong(reading, [...path, 'redact'], {
      message,
      fix: 'Leave it out, or write `redact = true`.',
    });
    return [];
  }
  const command = readCommand(reading, value, path);
  const start = readStart(reading, value, path);
  if (injectAs === undefined || place === undefined) return [];
  if (command === undefined || start === undefined) return [];
  return [{ injectAs, ...place, redact, ...command, ...start }];
}

/** What the command starts. Undefined is wrong. */
function readStart(
  reading: Reading,
  { command, program, files }: TomlTable,
  path: KeyPath,
): Pick<SecretBinding, 'program' | 'files'> | undefined {
  if (program !== undefined && !isWholePath(program)) {
    const fix = 'Write the whole path of the program, as `command -v NAME` prints it.';
    return wrong(reading, [...path, 'program'], { message: '`program` is no absolute path', fix });
  }
  const isList = Array.isArray(files) && files.length <= COMMAND_WORDS_MAX;
  if (files !== undefined && !(isList && files.every(isWholePath))) {
    const fix = `Write the whole path of each file, at most ${COMMAND_WORDS_MAX}.`;
    const message = '`files` is not a list of absolute paths';
    return wrong(reading, [...path, 'files'], { message, fix });
  }
  const isAlone = command === undefined && (program ?? files) !== undefined;
  if (isAlone) {
    const key = program === undefined ? 'files' : 'program';
    const fix = 'Add the words of the command as the client has them.';
    return wrong(reading, [...path, key], { message: `\`${key}\` needs \`command\``, fix });
  }
  return {
    ...(isWholePath(program) && { program }),
    ...(isList && { files: files.filter(isWholePath) }),
  };
}

function isWholePath(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    isAbsolute(value) &&
    value.length <= COMMAND_WORD_LENGTH_MAX &&
    !value.includes('\0')
  );
}

/** Undefined is wrong. */
function readCommand(
  reading: Reading,
  { command }: TomlTable,
  path: KeyPath,
): Pick<SecretBinding, 'command'> | undefined {
  if (command === undefined) return {};
  const isRight =
    Array.isArray(command) && command.length > 0 && command.length <= COMMAND_WORDS_MAX;
  const words: readonly unknown[] = isRight ? command : [];
  const texts = words.filter(
    (word) => typeof word === 'string' && word.length <= COMMAND_WORD_LENGTH_MAX,
  );
  if (isRight && texts.length === words.length) return { command: texts.map(String) };
  const message = '`command` is not a list of words';
  const fix = `Write it as the client has it, like ["npx", "-y", "server"]: at most ${COMMAND_WORDS_MAX} words of ${COMMAND_WORD_LENGTH_MAX} characters.`;
  return wrong(reading, [...path, 'command'], { message, fix });
}

function readInjectAs(reading: Reading, table: TomlTable, path: KeyPath): string | undefined {
  const { inject_as: name } = table;
  const here = [...path, 'inject_as'];
  if (name === undefined) return missing(reading, path, 'inject_as');
  if (typeof name !== 'string' || !VARIABLE.test(name) || name.length > NAME_LENGTH_MAX) {
    const fix = `Write letters, digits and underscores, at most ${NAME_LENGTH_MAX}, no digit first.`;
    return wrong(reading, here, { message: '`inject_as` is no name of a variable', fix });
  }
  if (!isReservedName(name)) return name;
  const message = `\`inject_as\`: \`${name}\` says how the server runs, it holds no secret`;
  return wrong(reading, here, { message, fix: 'Use the variable that the server reads it from.' });
}

/** Undefined is wrong; a source that is left out stands in the reference. */
function readSource(
  reading: Reading,
  table: TomlTable,
  path: KeyPath,
): { readonly source: SecretSource | undefined } | undefined {
  const { source, secret_ref: ref } = table;
  if (source === undefined) {
    const isUrl = typeof ref === 'string' && ref.includes('://');
    return isUrl ? { source } : missing(reading, path, 'source');
  }
  const known = SOURCES.find((one) => one === source);
  if (known !== undefined) return { source: known };
  const choices = '`env`, `file`, `keychain` or `vault`';
  const message = `\`source\`: expected ${choices}, got ${shown(source)}`;
  const word = typeof source === 'string' ? source : '';
  const fix = `Write ${choices}.`;
  return wrong(reading, [...path, 'source'], { message, fix, word, known: SOURCES });
}

function readRef(
  reading: Reading,
  table: TomlTable,
  { path, source }: { readonly path: KeyPath; readonly source: SecretSource | undefined },
): Pick<SecretBinding, 'source' | 'secretRef'> | undefined {
  const { secret_ref: ref } = table;
  if (ref === undefined) return missing(reading, path, 'secret_ref');
  const read = readSecretRef(ref, source);
  if (!read.ok) {
    const { key, message, fix } = read;
    return wrong(reading, [...path, key], { message, fix });
  }
  if (!reading.isSecret(read.secretRef)) {
    return { secretRef: read.secretRef, source: read.source };
  }
  const fix = 'Put the secret into a file or a variable, and write its name here.';
  const message = '`secret_ref` looks like the secret itself';
  return wrong(reading, [...path, 'secret_ref'], { message, fix });
}

function noOtherKeys(
  { faults }: Reading,
  table: TomlTable,
  { path, known }: { readonly path: KeyPath; readonly known: readonly string[] },
): void {
  for (const key of Object.keys(table)) {
    if (known.includes(key)) continue;
    const here = [...path, key];
    const message = `unknown key \`${shown(key)}\``;
    const fix = `Known here: ${known.map((one) => `\`${one}\``).join(', ')}.`;
    faults.push({ path: here, code: 'SUB_CONFIG_KEY', message, fix, word: key, known });
  }
}

function missing(reading: Reading, path: KeyPath, key: string): undefined {
  return wrong(reading, path, { message: `a binding has no \`${key}\``, fix: `Add \`${key}\`.` });
}

function wrong(
  { faults }: Reading,
  path: KeyPath,
  fault: Omit<BindingFault, 'path' | 'code'>,
): undefined {
  faults.push({ path, code: 'SUB_CONFIG_VALUE', ...fault });
}
