// The tables [servers.NAME] of config.toml: which secrets each server gets. What stands under
// `secret_ref` is never shown: somebody may have put the secret itself there.
import { type ConfigCode, type ConfigProblem, shown } from './problem.ts';
import { isReservedName } from './reserved-names.ts';
import { suggestion } from './suggestion.ts';

type SecretSource = (typeof SOURCES)[number];

/** One secret of one server. */
interface SecretBinding {
  /** The variable that the server finds it in. */
  readonly injectAs: string;
  /** Its name: a variable for `env`; a file of `$SUB_HOME/secrets`, or a path, for `file`. */
  readonly secretRef: string;
  readonly source: SecretSource;
  /** Whether its value is taken out of all that is recorded. */
  readonly redact: boolean;
}

interface ServerConfig {
  readonly secretBindings: readonly SecretBinding[];
}

/** By the exact name of the server. */
type Servers = ReadonlyMap<string, ServerConfig>;

interface ReadServers {
  readonly servers: Servers;
  readonly problems: readonly ConfigProblem[];
}

type KeyPath = readonly string[];

interface Fault {
  readonly path: KeyPath;
  readonly code: ConfigCode;
  readonly message: string;
  readonly fix: string;
  /** A word that may be misspelt, and what there is. */
  readonly word?: string;
  readonly known?: readonly string[];
}

interface Reading {
  readonly faults: Fault[];
  /** Whether a text has the form of a known secret. */
  readonly isSecret: (text: string) => boolean;
}

type Table = { readonly [key: string]: unknown };

const SOURCES = ['env', 'file'] as const;
const BINDING_KEYS = ['inject_as', 'secret_ref', 'source', 'redact'];
const SERVER_KEYS = ['secret_bindings'];
const SERVERS_MAX = 256;
const SERVER_NAME_LENGTH_MAX = 256;
const BINDINGS_MAX = 64;
const NAME_LENGTH_MAX = 128;
const PATH_LENGTH_MAX = 1_024;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const SECRET_PATH = /^(?:\/|~\/|\$SUB_HOME\/)[^\p{C}]+$/u;

/** Reads what stands under `servers`; `where` gives the place of a key in the file. */
async function readServers(value: unknown, where: (path: KeyPath) => string): Promise<ReadServers> {
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
  const problems = reading.faults.map(async (fault): Promise<ConfigProblem> => {
    const { code, message, path, word = '', known = [] } = fault;
    return { code, where: where(path), message, fix: await suggestion(word, known, fault.fix) };
  });
  return { servers, problems: await Promise.all(problems) };
}

function entriesOf(reading: Reading, table: Table): readonly [string, unknown][] {
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
  const seen = new Set<string>();
  return list.flatMap((one: unknown, index) => {
    const at = [...here, String(index)];
    const [binding] = readBinding(reading, one, at);
    if (binding === undefined) return [];
    const variable = binding.injectAs.toUpperCase();
    if (seen.has(variable)) {
      const message = `\`inject_as\`: \`${binding.injectAs}\` stands twice for one server`;
      const fix = 'Remove one of the two bindings.';
      wrong(reading, [...at, 'inject_as'], { message, fix });
    }
    seen.add(variable);
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
  const secretRef = source === undefined ? undefined : readRef(reading, value, { path, source });
  const { redact = true } = value;
  if (typeof redact !== 'boolean') {
    const message = '`redact` is neither true nor false';
    wrong(reading, [...path, 'redact'], {
      message,
      fix: 'Leave it out, or write `redact = true`.',
    });
    return [];
  }
  if (injectAs === undefined || source === undefined || secretRef === undefined) return [];
  return [{ injectAs, secretRef, source, redact }];
}

function readInjectAs(reading: Reading, table: Table, path: KeyPath): string | undefined {
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

function readSource(reading: Reading, table: Table, path: KeyPath): SecretSource | undefined {
  const { source } = table;
  if (source === undefined) return missing(reading, path, 'source');
  const known = SOURCES.find((one) => one === source);
  if (known !== undefined) return known;
  const here = [...path, 'source'];
  const fix = 'Write `env` or `file`.';
  if (source === 'keychain') {
    const message = '`source`: the keychain cannot be read yet';
    return wrong(reading, here, { message, fix: 'Use a file of mode 0600, or a variable.' });
  }
  const message = `\`source\`: expected \`env\` or \`file\`, got ${shown(source)}`;
  const word = typeof source === 'string' ? source : '';
  return wrong(reading, here, { message, fix, word, known: SOURCES });
}

function readRef(
  reading: Reading,
  table: Table,
  { path, source }: { readonly path: KeyPath; readonly source: SecretSource },
): string | undefined {
  const { secret_ref: ref } = table;
  const here = [...path, 'secret_ref'];
  if (ref === undefined) return missing(reading, path, 'secret_ref');
  const isOne = typeof ref === 'string' && (source === 'env' ? isVariable(ref) : isFileRef(ref));
  if (!isOne) {
    const wanted =
      source === 'env' ? 'is no name of a variable' : 'is no name of a secret, and no path';
    const fix =
      source === 'env'
        ? 'Write the name of the variable that holds the secret.'
        : 'Write the name of a file in $SUB_HOME/secrets, or a path that begins with `/` or `~/`.';
    return wrong(reading, here, { message: `\`secret_ref\` ${wanted}`, fix });
  }
  if (source === 'env' && isReservedName(ref)) {
    const message = '`secret_ref` is a variable that says how the server runs';
    return wrong(reading, here, { message, fix: 'Name a variable that holds a secret.' });
  }
  if (!reading.isSecret(ref)) return ref;
  const fix = 'Put the secret into a file or a variable, and write its name here.';
  return wrong(reading, here, { message: '`secret_ref` looks like the secret itself', fix });
}

function isVariable(ref: string): boolean {
  return VARIABLE.test(ref) && ref.length <= NAME_LENGTH_MAX;
}

function isFileRef(ref: string): boolean {
  if (SECRET_PATH.test(ref)) return ref.length <= PATH_LENGTH_MAX;
  return SECRET_NAME.test(ref) && ref.length <= NAME_LENGTH_MAX;
}

function noOtherKeys(
  { faults }: Reading,
  table: Table,
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

function wrong({ faults }: Reading, path: KeyPath, fault: Omit<Fault, 'path' | 'code'>): undefined {
  faults.push({ path, code: 'SUB_CONFIG_VALUE', ...fault });
}

function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

export type { SecretBinding, SecretSource, ServerConfig, Servers };
export { readServers };
