// Which secrets of some configs move into the store, under which names, and the two steps that come
// before a config may lack them: they are stored, and their servers are bound to them.

import { readConfigFile } from '../../../clients/store/config-file.ts';
import {
  ensurePrivateFolder,
  loadConfig,
  type SecretBinding,
  type Servers,
} from '../../../config/index.ts';
import {
  addSecrets,
  isVaultFault,
  openVault,
  type Protection,
  type Vault,
  type VaultFault,
  type VaultOptions,
} from '../../../vault/index.ts';
import type { FoundConfig } from '../configs.ts';
import { type SecretPlace, storeAt } from '../place.ts';
import { type AdoptProblem, adoptProblem } from '../problem.ts';
import { addBindings, type Binding, removeBindings, withBindings } from './bindings.ts';
import { cutOut } from './cut.ts';
import type { Move } from './moved.ts';
import { secretNames } from './names.ts';
import { type Others, othersIn, sharedBy } from './others.ts';
import { documentOf, type PlainSecret } from './plain.ts';

/** A config whose secrets are to move. */
interface MovableFile {
  readonly found: FoundConfig;
  readonly secrets: readonly PlainSecret[];
  /** The config without our edits. */
  readonly baseText: string;
}

type MoveStep = 'secrets stored' | 'servers bound';

interface Stored {
  readonly kind: 'stored';
  /** What protects the store, where it was made for these secrets. */
  readonly newStore?: Protection;
}

interface Moves {
  readonly kind: 'moves';
  readonly of: (file: MovableFile) => readonly Move[];
  /** What was bound before. */
  readonly bound: Servers;
  /** What stays where it is, and why; whole sentences. */
  readonly warnings: readonly string[];
  /** Stores and binds; then, and not before, the configs may change. */
  readonly store: (onStep?: (step: MoveStep) => void) => Promise<Stored | AdoptProblem>;
  /** Takes the new bindings out again: of a config that could not be changed after all. */
  readonly unbind: (moves: readonly Move[]) => Promise<void>;
}

async function vaultOptions(options: SecretPlace): Promise<VaultOptions | AdoptProblem> {
  const ready = await readHome(options);
  return 'kind' in ready ? ready : ready.vault;
}

/** What config.toml binds; nothing where it cannot be read. */
async function boundIn({ env, project }: Pick<SecretPlace, 'env' | 'project'>): Promise<Servers> {
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  return loaded.ok ? loaded.servers : new Map();
}

interface Home {
  readonly vault: VaultOptions;
  readonly servers: Servers;
  readonly warnings: readonly string[];
}

async function readHome(options: SecretPlace): Promise<Home | AdoptProblem> {
  const { env, project, paths, keychain } = options;
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  if (!loaded.ok) {
    const [first] = loaded.problems;
    const { code, where, message, fix } = first ?? unreadable(paths.config);
    return adoptProblem(code, `${where}: ${message}.`, fix);
  }
  const { config, origins, servers } = loaded;
  const passphraseFile = config['secrets.passphrase_file'];
  const isOfTerminal = passphraseFile !== null && origins['secrets.passphrase_file'] !== 'file';
  return {
    vault: {
      home: paths.home,
      nowMs: () => Date.now(),
      passphraseFile,
      ...(keychain !== undefined && { keychain }),
    },
    servers,
    warnings: isOfTerminal
      ? [
          'the file with the passphrase is named by a variable of this terminal: name it as secrets.passphrase_file in config.toml too, or servers whose client does not hand the variable on will not start.',
        ]
      : [],
  };
}

function unreadable(where: string) {
  return {
    code: 'SUB_CONFIG_VALUE',
    where,
    message: 'it cannot be read',
    fix: 'Correct it.',
  } as const;
}

/** Looks, and changes nothing. A store that cannot be opened refuses everything. */
async function prepareMoves(
  files: readonly MovableFile[],
  options: SecretPlace,
): Promise<Moves | AdoptProblem> {
  const home = await readHome(options);
  if ('kind' in home) return home;
  const vault = await openVault(home.vault);
  if (isVaultFault(vault)) return unopened(vault);
  try {
    const others = othersIn(
      options,
      files.map(({ found }) => found),
    );
    const planning = new Planning({ servers: home.servers, others, vault });
    const moves = new Map(files.map((file) => [file, planning.movesOf(file)]));
    const unfit = await unfitFor(planning.bindings, options);
    return unfit ?? movesOf(planning, moves, { options, home });
  } finally {
    vault?.close();
  }
}

function unopened({ code, message, fix }: VaultFault): AdoptProblem {
  const isAsked = message.includes('needs its passphrase');
  const how = isAsked
    ? 'A server has no terminal: write the passphrase into a file of mode 0600, and name it as secrets.passphrase_file in config.toml.'
    : fix;
  return adoptProblem(code, `no secret can be moved: ${message}`, how);
}

async function unfitFor(bindings: readonly Binding[], { paths }: SecretPlace) {
  const config = readConfigFile(paths.config);
  const text = config.kind === 'read' ? config.text : '';
  const next = bindings.length === 0 ? '' : await withBindings(text, bindings, paths.config);
  return typeof next === 'string' ? undefined : next;
}

function movesOf(
  { bindings, secrets, warnings }: Planning,
  moves: ReadonlyMap<MovableFile, readonly Move[]>,
  { options, home }: { readonly options: SecretPlace; readonly home: Home },
): Moves {
  const file = { paths: options.paths, store: storeAt(options.paths) };
  return {
    kind: 'moves',
    of: (one) => moves.get(one) ?? [],
    bound: home.servers,
    warnings: [...home.warnings, ...warnings],
    store: async (onStep) => {
      const unsafe = ensurePrivateFolder(options.paths.home);
      if (unsafe !== undefined) {
        return adoptProblem(unsafe.code, `${unsafe.where} ${unsafe.message}.`, unsafe.fix);
      }
      const named = [...secrets].map(([name, value]) => ({ name, value: value() }));
      const added = named.length === 0 ? undefined : await addSecrets(home.vault, named);
      if (isVaultFault(added)) return adoptProblem(added.code, added.message, added.fix);
      onStep?.('secrets stored');
      const unbound = bindings.length === 0 ? undefined : await addBindings(bindings, file);
      if (unbound !== undefined) return unbound;
      onStep?.('servers bound');
      return { kind: 'stored', ...(added?.isNew === true && { newStore: added.protection }) };
    },
    unbind: async (list) => {
      const gone = bindings.filter(({ server, secret }) =>
        list.some((one) => one.server === server && one.secret === secret),
      );
      if (gone.length > 0) await removeBindings(gone, file);
    },
  };
}

interface PlanningParts extends Pick<Home, 'servers'> {
  readonly others: Others;
  readonly vault: Vault | undefined;
}

/** Gathers what is new: names that are taken by one file are taken for the next. */
class Planning {
  readonly bindings: Binding[] = [];
  readonly secrets = new Map<string, () => string>();
  readonly warnings: string[] = [];
  readonly #parts: PlanningParts;
  readonly #names = new Map<string, string>();

  constructor(parts: PlanningParts) {
    this.#parts = parts;
    const { vault } = parts;
    for (const { name } of vault?.secrets ?? []) {
      const value = vault?.value(name);
      if (typeof value === 'string' && !this.#names.has(value)) this.#names.set(value, name);
    }
  }

  movesOf({ found, secrets, baseText }: MovableFile): readonly Move[] {
    const { file, client } = found;
    const document = documentOf({ ...found.config, text: baseText });
    let text = baseText;
    return secrets.flatMap((secret): readonly Move[] => {
      const value = document?.valueAt(secret.path);
      if (typeof value !== 'string') return [];
      const { server, variable, path } = secret;
      const words = `${variable} of ${server} in ${file.path}`;
      const out = cutOut(text, { format: file.format, path, value });
      if (out === undefined) {
        return this.#stays(`${words} is written in a way that could not come back as it is`);
      }
      const name = this.#nameFor({ client: client.id, server, variable, value, words });
      if (name === undefined) return [];
      text = out.text;
      return [{ server, path, secret: name, value: () => value }];
    });
  }

  #nameFor(asked: Asked): string | undefined {
    const { server, variable, value, words } = asked;
    const bound = this.#boundTo(server, variable);
    if (bound !== undefined) return this.#reused(bound, asked);
    const shared = sharedBy(this.#parts.others, asked);
    if (shared.kind === 'clash') {
      this.#stays(
        `${words} is not what ${shared.path} has for a server of that name, and both would get the same`,
      );
      return undefined;
    }
    if (shared.kind === 'also') {
      this.warnings.push(
        `${server} of ${shared.paths.join(', ')} has no ${variable}, and gets this one too: servers of one name share their secrets.`,
      );
    }
    const name = this.#names.get(value) ?? this.#newName(asked);
    this.bindings.push({ server, variable, secret: name });
    return name;
  }

  #boundTo(server: string, variable: string): SecretBinding | Binding | undefined {
    const isSame = (other: string) => other.toUpperCase() === variable.toUpperCase();
    const bindings = this.#parts.servers.get(server)?.secretBindings ?? [];
    return (
      bindings.find(({ injectAs }) => isSame(injectAs)) ??
      this.bindings.find((one) => one.server === server && isSame(one.variable))
    );
  }

  /** What the server gets already stands in the store: only the copy in the config goes. */
  #reused(bound: SecretBinding | Binding, { value, words, variable }: Asked): string | undefined {
    const [name, isOurs] =
      'secretRef' in bound
        ? [bound.secretRef, bound.source === 'vault' && bound.injectAs === variable]
        : [bound.secret, bound.variable === variable];
    const held = this.secrets.get(name)?.() ?? this.#parts.vault?.value(name);
    if (isOurs && held === value) return name;
    this.#stays(
      `${words} is not used: its server is bound to \`${name}\`, which has another value (\`sub secrets rotate\` changes that)`,
    );
    return undefined;
  }

  #newName(asked: Asked): string {
    const { vault } = this.#parts;
    const taken = new Set([
      ...(vault?.secrets ?? []).map(({ name }) => name),
      ...this.secrets.keys(),
    ]);
    const name = secretNames(asked).find((one) => !taken.has(one));
    if (name === undefined) throw new Error('every name for a secret is taken');
    this.secrets.set(name, () => asked.value);
    this.#names.set(asked.value, name);
    return name;
  }

  #stays(words: string): readonly never[] {
    this.warnings.push(`${words}: it stays in plain text.`);
    return [];
  }
}

interface Asked {
  readonly client: string;
  readonly server: string;
  readonly variable: string;
  readonly value: string;
  /** Where it stands, for people. */
  readonly words: string;
}

export type { MovableFile, MoveStep, Moves };
export { boundIn, prepareMoves, vaultOptions };
