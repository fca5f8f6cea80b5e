// The tables [servers.NAME] of config.toml: which secrets each server gets. What stands under
// `secret_ref` is never shown: somebody may have put the secret itself there.
import { isAbsolute } from 'node:path';
import { definedFields, isFailure } from '@subluminal/contracts';
import { shown } from './config-failure.ts';
import { readSecretRef, type SecretSource, SOURCES } from './secret-ref.ts';
import { type OAuthSettings, readOAuth } from './server-oauth.ts';
import { type ConfigFault, type KeyPath, TableReader } from './table-reader.ts';
import { isReservedName, isTable } from './values.ts';

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
  /** The address that the server must be reached by to get it; then no command does. */
  readonly url?: string;
}

export interface ServerConfig {
  readonly secretBindings: readonly SecretBinding[];
  /** Of a remote server. */
  readonly oauth?: OAuthSettings;
}

/** By the exact name of the server. */
export type Servers = ReadonlyMap<string, ServerConfig>;

const SERVERS_MAX = 256;
const SERVER_NAME_LENGTH_MAX = 256;
const BINDINGS_MAX = 64;
const NAME_LENGTH_MAX = 128;
const WORDS_MAX = 256;
const WORD_LENGTH_MAX = 4_096;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WRITE_AS = 'Write it as [[servers.NAME.secret_bindings]].';

/** Reads what stands under `servers`, and collects what is wrong with it. */
export async function readServers(
  value: unknown,
): Promise<{ readonly servers: Servers; readonly faults: readonly ConfigFault[] }> {
  if (value === undefined) return { servers: new Map(), faults: [] };
  const { createRedactor } = await import('@subluminal/core/scan');
  const { redact } = createRedactor({});
  const reader = new ServersReader((text) => redact(text).found.length > 0);
  return { servers: reader.servers(value), faults: reader.faults };
}

/** A method returns undefined for a mistake. */
class ServersReader {
  readonly faults: ConfigFault[] = [];
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
      entries.slice(0, SERVERS_MAX).map(([name, one]) => [name, this.#server(name, one)]),
    );
  }

  #server(name: string, value: unknown): ServerConfig {
    const path = ['servers', name];
    if (name === '' || name.length > SERVER_NAME_LENGTH_MAX || /\p{C}/u.test(name)) {
      const fix = `Write a name of 1 to ${SERVER_NAME_LENGTH_MAX} characters, without control characters.`;
      this.#wrong(path, `\`servers.${shown(name)}\` is no name of a server`, fix);
    }
    if (!isTable(value)) {
      this.#wrong(path, `\`servers.${shown(name)}\` is not a table`, WRITE_AS);
      return { secretBindings: [] };
    }
    const table = new TableReader(value, path, this.faults);
    const list = table.take('secret_bindings') ?? [];
    const oauth = readOAuth(table);
    table.done();
    return { secretBindings: this.#bindings(path, list), ...definedFields({ oauth }) };
  }

  #bindings(path: KeyPath, list: unknown): readonly SecretBinding[] {
    const here = [...path, 'secret_bindings'];
    if (!Array.isArray(list) || list.length > BINDINGS_MAX) {
      const what = `a list of at most ${BINDINGS_MAX} tables`;
      this.#wrong(here, `\`${shown(here.join('.'))}\` is not ${what}`, WRITE_AS);
      return [];
    }
    const seen = new Map<string, (string | undefined)[]>();
    return list.flatMap((one: unknown, index) => {
      const at = [...here, String(index)];
      if (!isTable(one)) return this.#wrong(at, 'a binding is not a table', WRITE_AS) ?? [];
      const inner = new TableReader(one, at, this.faults);
      const binding = this.#binding(inner);
      if (binding === undefined) return [];
      const variable = binding.injectAs.toUpperCase();
      const { command: words, program = null, files = [], url } = binding;
      const command = words ? JSON.stringify([words, program, files]) : url;
      const others = seen.get(variable) ?? [];
      // For two commands it may have two values.
      if (others.some((other) => !other || !command || other === command)) {
        const message = `\`inject_as\`: \`${binding.injectAs}\` stands twice for one server`;
        const fix =
          'Remove one of the two bindings, or give each a `command` or a `url` of its own.';
        inner.fault('inject_as', message, fix);
      }
      seen.set(variable, [...others, command]);
      return [binding];
    });
  }

  #binding(table: TableReader): SecretBinding | undefined {
    const injectAs = this.#injectAs(table);
    const place = this.#place(table);
    const redact = table.take('redact') ?? true;
    const start = this.#start(table);
    table.done();
    if (typeof redact !== 'boolean') {
      const fix = 'Leave it out, or write `redact = true`.';
      return table.fault('redact', '`redact` is neither true nor false', fix);
    }
    if (!injectAs || !place || !start) return undefined;
    return { injectAs, ...place, redact, ...start };
  }

  #injectAs(table: TableReader): string | undefined {
    const name = table.take('inject_as');
    if (name === undefined) return this.#missing(table, 'inject_as');
    if (typeof name !== 'string' || !VARIABLE.test(name) || name.length > NAME_LENGTH_MAX) {
      const fix = `Write letters, digits and underscores, at most ${NAME_LENGTH_MAX}, no digit first.`;
      return table.fault('inject_as', '`inject_as` is no name of a variable', fix);
    }
    if (!isReservedName(name)) return name;
    const message = `\`inject_as\`: \`${name}\` says how the server runs, it holds no secret`;
    return table.fault('inject_as', message, 'Use the variable that the server reads it from.');
  }

  /** The source and the name of the secret; a source that is left out stands in the reference. */
  #place(table: TableReader): Pick<SecretBinding, 'source' | 'secretRef'> | undefined {
    const [source, ref] = [table.take('source'), table.take('secret_ref')];
    const known = SOURCES.find((one) => one === source);
    if (source === undefined && !(typeof ref === 'string' && ref.includes('://'))) {
      return this.#missing(table, 'source');
    }
    if (source !== undefined && known === undefined) {
      const choices = '`env`, `file`, `keychain` or `vault`';
      const message = `\`source\`: expected ${choices}, got ${shown(source)}`;
      const spelling = { word: typeof source === 'string' ? source : '', known: SOURCES };
      const words = { message, fix: `Write ${choices}.`, ...spelling };
      this.faults.push({ path: [...table.path, 'source'], code: 'SUB_CONFIG_VALUE', ...words });
      return undefined;
    }
    if (ref === undefined) return this.#missing(table, 'secret_ref');
    const read = readSecretRef(ref, known);
    if (isFailure(read)) return table.fault(read.key, read.message, read.fix);
    const { secretRef } = read;
    if (!this.#isSecret(secretRef)) return { secretRef, source: read.source };
    const fix = 'Put the secret into a file or a variable, and write its name here.';
    return table.fault('secret_ref', '`secret_ref` looks like the secret itself', fix);
  }

  /** The address that a binding is for, or the command, its program, and the files that its words name. */
  #start(
    table: TableReader,
  ): Pick<SecretBinding, 'command' | 'program' | 'files' | 'url'> | undefined {
    const url = table.take('url');
    if (url === undefined) return this.#command(table);
    if (typeof url !== 'string' || !isAddress(url)) {
      const fix =
        'Write the address of the server as the client has it, like "https://mcp.example.com/mcp".';
      return table.fault('url', '`url` is no address of a server', fix);
    }
    const other = ['command', 'program', 'files'].find((key) => table.take(key) !== undefined);
    if (other === undefined) return { url };
    const fix = 'A server has an address or a command: leave one of them out.';
    return table.fault(other, `\`${other}\` stands beside \`url\``, fix);
  }

  #command(table: TableReader): Pick<SecretBinding, 'command' | 'program' | 'files'> | undefined {
    const [command, program, files] = ['command', 'program', 'files'].map((key) => table.take(key));
    if (command !== undefined && !(isWords(command) && command.length > 0)) {
      const fix = `Write it as the client has it, like ["npx", "-y", "server"]: at most ${WORDS_MAX} words of ${WORD_LENGTH_MAX} characters.`;
      return table.fault('command', '`command` is not a list of words', fix);
    }
    if (program !== undefined && !isWholePath(program)) {
      const fix = 'Write the whole path of the program, as `command -v NAME` prints it.';
      return table.fault('program', '`program` is no absolute path', fix);
    }
    if (files !== undefined && !(isWords(files) && files.every(isWholePath))) {
      const fix = `Write the whole path of each file, at most ${WORDS_MAX}.`;
      return table.fault('files', '`files` is not a list of absolute paths', fix);
    }
    if (command === undefined && (program ?? files) !== undefined) {
      const key = program === undefined ? 'files' : 'program';
      const fix = 'Add the words of the command as the client has them.';
      return table.fault(key, `\`${key}\` needs \`command\``, fix);
    }
    return definedFields({ command, program, files });
  }

  #missing({ path }: TableReader, key: string): undefined {
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

function isAddress(value: string): boolean {
  return /^https?:/i.test(value) && URL.canParse(value) && value.length <= WORD_LENGTH_MAX;
}
