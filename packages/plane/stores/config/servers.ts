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
  /** A word that may be misspelt, and the words there are. */
  readonly word?: string;
  readonly known?: readonly string[];
}

const BINDING_KEYS = ['inject_as', 'secret_ref', 'source', 'redact', 'command', 'program', 'files'];
const SERVER_KEYS = ['secret_bindings'];
const SERVERS_MAX = 256;
const SERVER_NAME_LENGTH_MAX = 256;
const BINDINGS_MAX = 64;
const NAME_LENGTH_MAX = 128;
const WORDS_MAX = 256;
const WORD_LENGTH_MAX = 4_096;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WRITE_AS = 'Write it as [[servers.NAME.secret_bindings]].';

/** Reads what stands under `servers`; `where` gives the place of a key in the file. */
export async function readServers(
  value: unknown,
  where: (path: KeyPath) => string,
): Promise<ReadServers> {
  if (value === undefined) return { servers: new Map(), problems: [] };
  const { createRedactor } = await import('@subluminal/core/scan');
  const { redact } = createRedactor({});
  const reader = new ServersReader((text) => redact(text).found.length > 0);
  const servers = reader.servers(value);
  const problems = reader.faults.map(async (fault) => {
    const { code, message, path, word = '', known = [] } = fault;
    const fix = await suggestion(word, known, fault.fix);
    return configFailure(code, where(path), { message, fix });
  });
  return { servers, problems: await Promise.all(problems) };
}

/** Reads tables and collects what is wrong with them. A reader returns undefined for a mistake. */
class ServersReader {
  readonly faults: BindingFault[] = [];
  readonly #isSecret: (text: string) => boolean;

  /** `isSecret`: whether a text has the form of a known secret. */
  constructor(isSecret: (text: string) => boolean) {
    this.#isSecret = isSecret;
  }

  servers(value: unknown): Servers {
    if (!isTable(value)) {
      this.#wrong(['servers'], '`servers` is not a table', WRITE_AS);
      return new Map();
    }
    const entries = Object.entries(value);
    if (entries.length > SERVERS_MAX) {
      const message = `\`servers\` has ${entries.length} servers`;
      this.#wrong(['servers'], message, `Name at most ${SERVERS_MAX}.`);
    }
    return new Map(
      entries
        .slice(0, SERVERS_MAX)
        .map(([name, one]) => [name, { secretBindings: this.#bindings(name, one) }]),
    );
  }

  #bindings(name: string, value: unknown): readonly SecretBinding[] {
    const path = ['servers', name];
    if (name === '' || name.length > SERVER_NAME_LENGTH_MAX || /\p{C}/u.test(name)) {
      const fix = `Write a name of 1 to ${SERVER_NAME_LENGTH_MAX} characters, without control characters.`;
      this.#wrong(path, `\`servers.${shown(name)}\` is no name of a server`, fix);
    }
    if (!isTable(value)) {
      this.#wrong(path, `\`servers.${shown(name)}\` is not a table`, WRITE_AS);
      return [];
    }
    this.#noOtherKeys(value, path, SERVER_KEYS);
    const list = value['secret_bindings'] ?? [];
    const here = [...path, 'secret_bindings'];
    if (!Array.isArray(list) || list.length > BINDINGS_MAX) {
      const what = `a list of at most ${BINDINGS_MAX} tables`;
      this.#wrong(here, `\`${shown(here.join('.'))}\` is not ${what}`, WRITE_AS);
      return [];
    }
    const seen = new Map<string, (string | undefined)[]>();
    return list.flatMap((one: unknown, index) => {
      const at = [...here, String(index)];
      const binding = this.#binding(one, at);
      if (binding === undefined) return [];
      const variable = binding.injectAs.toUpperCase();
      const { command: words, program = null, files = [] } = binding;
      const command = words && JSON.stringify([words, program, files]);
      const others = seen.get(variable) ?? [];
      // For two commands it may have two values.
      if (others.some((other) => !other || !command || other === command)) {
        const message = `\`inject_as\`: \`${binding.injectAs}\` stands twice for one server`;
        const fix = 'Remove one of the two bindings, or give each a `command` of its own.';
        this.#wrong([...at, 'inject_as'], message, fix);
      }
      seen.set(variable, [...others, command]);
      return [binding];
    });
  }

  #binding(value: unknown, path: KeyPath): SecretBinding | undefined {
    if (!isTable(value)) return this.#wrong(path, 'a binding is not a table', WRITE_AS);
    this.#noOtherKeys(value, path, BINDING_KEYS);
    const injectAs = this.#injectAs(value, path);
    const place = this.#place(value, path);
    const { redact = true } = value;
    if (typeof redact !== 'boolean') {
      const fix = 'Leave it out, or write `redact = true`.';
      return this.#wrong([...path, 'redact'], '`redact` is neither true nor false', fix);
    }
    const command = this.#command(value, path);
    const start = this.#start(value, path);
    if (!injectAs || !place || !command || !start) return undefined;
    return { injectAs, ...place, redact, ...command, ...start };
  }

  #injectAs({ inject_as: name }: TomlTable, path: KeyPath): string | undefined {
    const here = [...path, 'inject_as'];
    if (name === undefined) return this.#missing(path, 'inject_as');
    if (typeof name !== 'string' || !VARIABLE.test(name) || name.length > NAME_LENGTH_MAX) {
      const fix = `Write letters, digits and underscores, at most ${NAME_LENGTH_MAX}, no digit first.`;
      return this.#wrong(here, '`inject_as` is no name of a variable', fix);
    }
    if (!isReservedName(name)) return name;
    const message = `\`inject_as\`: \`${name}\` says how the server runs, it holds no secret`;
    return this.#wrong(here, message, 'Use the variable that the server reads it from.');
  }

  /** The source and the name of the secret; a source that is left out stands in the reference. */
  #place(
    { source, secret_ref: ref }: TomlTable,
    path: KeyPath,
  ): Pick<SecretBinding, 'source' | 'secretRef'> | undefined {
    const known = SOURCES.find((one) => one === source);
    if (source === undefined && !(typeof ref === 'string' && ref.includes('://'))) {
      return this.#missing(path, 'source');
    }
    if (source !== undefined && known === undefined) {
      const choices = '`env`, `file`, `keychain` or `vault`';
      const message = `\`source\`: expected ${choices}, got ${shown(source)}`;
      const spelling = { word: typeof source === 'string' ? source : '', known: SOURCES };
      const fault = { path: [...path, 'source'], message, fix: `Write ${choices}.`, ...spelling };
      this.faults.push({ code: 'SUB_CONFIG_VALUE', ...fault });
      return undefined;
    }
    if (ref === undefined) return this.#missing(path, 'secret_ref');
    const read = readSecretRef(ref, known);
    if (!read.ok) return this.#wrong([...path, read.key], read.message, read.fix);
    const { secretRef } = read;
    if (!this.#isSecret(secretRef)) return { secretRef, source: read.source };
    const fix = 'Put the secret into a file or a variable, and write its name here.';
    return this.#wrong([...path, 'secret_ref'], '`secret_ref` looks like the secret itself', fix);
  }

  #command({ command }: TomlTable, path: KeyPath): Pick<SecretBinding, 'command'> | undefined {
    if (command === undefined) return {};
    if (isWords(command) && command.length > 0) return { command };
    const fix = `Write it as the client has it, like ["npx", "-y", "server"]: at most ${WORDS_MAX} words of ${WORD_LENGTH_MAX} characters.`;
    return this.#wrong([...path, 'command'], '`command` is not a list of words', fix);
  }

  /** The program and the files that the command names. */
  #start(
    { command, program, files }: TomlTable,
    path: KeyPath,
  ): Pick<SecretBinding, 'program' | 'files'> | undefined {
    if (program !== undefined && !isWholePath(program)) {
      const fix = 'Write the whole path of the program, as `command -v NAME` prints it.';
      return this.#wrong([...path, 'program'], '`program` is no absolute path', fix);
    }
    if (files !== undefined && !(isWords(files) && files.every(isWholePath))) {
      const fix = `Write the whole path of each file, at most ${WORDS_MAX}.`;
      return this.#wrong([...path, 'files'], '`files` is not a list of absolute paths', fix);
    }
    if (command === undefined && (program ?? files) !== undefined) {
      const key = program === undefined ? 'files' : 'program';
      const fix = 'Add the words of the command as the client has them.';
      return this.#wrong([...path, key], `\`${key}\` needs \`command\``, fix);
    }
    return { ...(program !== undefined && { program }), ...(files !== undefined && { files }) };
  }

  #noOtherKeys(table: TomlTable, path: KeyPath, known: readonly string[]): void {
    for (const key of Object.keys(table).filter((one) => !known.includes(one))) {
      const message = `unknown key \`${shown(key)}\``;
      const fix = `Known here: ${known.map((one) => `\`${one}\``).join(', ')}.`;
      const fault = { path: [...path, key], message, fix, word: key, known };
      this.faults.push({ code: 'SUB_CONFIG_KEY', ...fault });
    }
  }

  #missing(path: KeyPath, key: string): undefined {
    return this.#wrong(path, `a binding has no \`${key}\``, `Add \`${key}\`.`);
  }

  #wrong(path: KeyPath, message: string, fix: string): undefined {
    this.faults.push({ path, code: 'SUB_CONFIG_VALUE', message, fix });
  }
}

function isWords(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= WORDS_MAX &&
    value.every((word) => typeof word === 'string' && word.length <= WORD_LENGTH_MAX)
  );
}

function isWholePath(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    isAbsolute(value) &&
    value.length <= WORD_LENGTH_MAX &&
    !value.includes('\0')
  );
}
