// Which secrets of some configs move into the store, under which names, and the two steps that come
// before a config may lack them: they are stored, and their servers are bound to them.

import { type Failure, isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder, loadConfig, type Servers } from '../../../../stores/config/index.ts';
import {
  addSecrets,
  openVault,
  type Protection,
  type VaultOptions,
} from '../../../../stores/vault/index.ts';
import { readConfigFile } from '../../store/config-file.ts';
import { type SecretPlace, storeAt } from '../place.ts';
import { type AdoptProblem, adoptProblem } from '../problem.ts';
import {
  addBindings,
  type Binding,
  type BindingName,
  removeBindings,
  withBindings,
} from './bindings.ts';
import type { Move } from './moved.ts';
import { othersIn } from './others.ts';
import { beginMove } from './pending.ts';
import { type MovableFile, Planning } from './planning.ts';

export type MoveStep = 'secrets stored' | 'servers bound';

interface Stored {
  readonly kind: 'stored';
  /** What protects the store, where it was made for these secrets. */
  readonly newStore?: Protection;
}

export interface Moves {
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
  /** Once all configs are changed, or left: until then a killed process leaves a trace. */
  readonly end: () => void;
}

export async function vaultOptions(options: SecretPlace): Promise<VaultOptions | AdoptProblem> {
  const ready = await readHome(options);
  return 'kind' in ready ? ready : ready.vault;
}

/** What config.toml binds; nothing where it cannot be read. */
export async function boundIn({
  env,
  project,
}: Pick<SecretPlace, 'env' | 'project'>): Promise<Servers> {
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
export async function prepareMoves(
  files: readonly MovableFile[],
  options: SecretPlace,
): Promise<Moves | AdoptProblem> {
  const home = await readHome(options);
  if ('kind' in home) return home;
  const vault = await openVault(home.vault);
  if (isFailure(vault)) return unopened(vault);
  try {
    const others = othersIn(
      options,
      files.map(({ found }) => found),
    );
    const planning = new Planning({ servers: home.servers, others, vault, env: options.env });
    const moves = new Map(files.map((file) => [file, planning.movesOf(file)]));
    const unfit = await unfitFor(planning.bindings, options);
    if (unfit === undefined) return movesOf(planning, moves, { options, home });
    return (await withoutUnfit({ planning, moves, unfit }, { options, home })) ?? unfit;
  } finally {
    vault?.close();
  }
}

function unopened({ code, message, fix }: Failure): AdoptProblem {
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

interface Unfit {
  readonly planning: Planning;
  readonly moves: ReadonlyMap<MovableFile, readonly Move[]>;
  readonly unfit: AdoptProblem;
}

interface Place {
  readonly options: SecretPlace;
  readonly home: Home;
}

/** A server with an odd name keeps no other one's secrets in plain text. Undefined where none is left. */
async function withoutUnfit({ planning, moves, unfit }: Unfit, place: Place) {
  const odd = new Map<string, string>();
  for (const one of planning.bindings) {
    const why = await unfitFor([one], place.options);
    if (why !== undefined) odd.set(one.server, why.message);
  }
  const fit = planning.bindings.filter(({ server }) => !odd.has(server));
  if (fit.length === 0 || (await unfitFor(fit, place.options)) !== undefined) return undefined;
  const kept = [...moves].map(
    ([file, list]) => [file, list.filter(({ server }) => !odd.has(server))] as const,
  );
  const names = new Set(kept.flatMap(([, list]) => list.map(({ secret }) => secret)));
  const warnings = [...odd].map(
    ([server, why]) => `the secrets of ${server} stay in plain text: ${why || unfit.message}`,
  );
  const rest = {
    bindings: fit,
    secrets: new Map([...planning.secrets].filter(([name]) => names.has(name))),
    warnings: [...planning.warnings, ...warnings],
  };
  return movesOf(rest, new Map(kept), place);
}

function movesOf(
  { bindings, secrets, warnings }: Pick<Planning, 'bindings' | 'secrets' | 'warnings'>,
  moves: ReadonlyMap<MovableFile, readonly Move[]>,
  { options, home }: Place,
): Moves {
  const file = { paths: options.paths, store: storeAt(options.paths) };
  let end = (): void => undefined;
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
      if (isFailure(added)) return adoptProblem(added.code, added.message, added.fix);
      onStep?.('secrets stored');
      const begun = beginMove([...moves.values()].flat().map(nameOf), file.store);
      if (typeof begun === 'object') return begun;
      end = begun;
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
    end: () => end(),
  };
}

function nameOf({ server, path, secret }: Move): BindingName {
  return { server, variable: String(path.at(-1)), secret };
}
