// Moves secrets of configs into the store. Before a config may lack them, they are stored and their
// servers are bound to them.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { definedFields, type Failure, failure, isFailure } from '@subluminal/contracts';
import { writePrivateFile } from '../../../os/index.ts';
import { ensurePrivateFolder, loadConfig, type Servers } from '../../../stores/config/index.ts';
import {
  addSecrets,
  openVault,
  type Protection,
  type VaultOptions,
} from '../../../stores/vault/index.ts';
import type { ConfigFailure, Format, MovedSecret, RewrittenConfig } from '../index.ts';
import { type SecretPlace, storeAt } from '../inspect/adoption-place.ts';
import { type ChangeStore, configFailure, readOwn } from '../store/change-store.ts';
import { CONFIG_BYTES_MAX, readConfigFile } from '../store/config-file.ts';
import { matchesDigest, readRecord } from '../store/records.ts';
import { documentIn } from '../text/document.ts';
import {
  addBindings,
  type Binding,
  bindingName,
  removeBindings,
  withBindings,
} from './bindings.ts';
import { cutAll } from './cut-values.ts';
import { beginMove } from './pending-bindings.ts';
import { serversByName } from './plain-secrets.ts';
import { type MovableFile, MovePlanner, type SecretMove } from './plan-moves.ts';
import { startDigest } from './return-secrets.ts';

export type MoveStep = 'secrets stored' | 'servers bound';

interface StoredSecrets {
  readonly kind: 'stored';
  /** What protects the store, where it was made for these secrets. */
  readonly newStore?: Protection;
}

export interface PreparedMoves {
  readonly kind: 'moves';
  readonly of: (file: MovableFile) => readonly SecretMove[];
  /** What was bound before. */
  readonly bound: Servers;
  /** Which secrets stay where they are, and why; whole sentences. */
  readonly warnings: readonly string[];
  /** Stores and binds; then, and not before, the configs may change. */
  readonly store: (onStep?: (step: MoveStep) => void) => Promise<StoredSecrets | Failure>;
  /** Takes the new bindings out again: of a config that could not be changed after all. */
  readonly unbind: (moves: readonly SecretMove[]) => Promise<void>;
  /** Called once all configs are changed or left: until then a killed process leaves a trace. */
  readonly end: () => void;
}

interface VaultHome {
  readonly kind: 'home';
  readonly vault: VaultOptions;
  readonly servers: Servers;
  readonly warnings: readonly string[];
}

export async function readVaultHome(options: SecretPlace): Promise<VaultHome | Failure> {
  const { env, project, paths, keychain } = options;
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  if (!loaded.ok) {
    const [{ code, where, message, fix } = unreadable(paths.config)] = loaded.problems;
    return failure(code, `${where}: ${message}.`, fix);
  }
  const { config, origins, servers } = loaded;
  const passphraseFile = config['secrets.passphrase_file'];
  const isOfTerminal = passphraseFile !== null && origins['secrets.passphrase_file'] !== 'file';
  const nowMs = () => Date.now();
  const vault = { home: paths.home, nowMs, passphraseFile, ...definedFields({ keychain }) };
  const warning =
    'the file with the passphrase is named by a variable of this terminal: name it as secrets.passphrase_file in config.toml too, or servers whose client does not hand the variable on will not start.';
  return { kind: 'home', vault, servers, warnings: isOfTerminal ? [warning] : [] };
}

function unreadable(where: string) {
  const message = 'it cannot be read';
  return { code: 'SUB_CONFIG_VALUE', where, message, fix: 'Correct it.' } as const;
}

/** Changes nothing. Fails when the store cannot be opened. */
export async function prepareMoves(
  files: readonly MovableFile[],
  options: SecretPlace,
): Promise<PreparedMoves | Failure> {
  const home = await readVaultHome(options);
  if (home.kind === 'failure') return home;
  const { servers } = home;
  const vault = await openVault(home.vault);
  if (isFailure(vault)) return unopened(vault);
  try {
    const found = files.map((file) => file.found);
    const others = serversByName(options, found);
    const planner = new MovePlanner({ servers, others, vault, env: options.env });
    const moves = new Map(files.map((file) => [file, planner.movesOf(file)]));
    const odd = await oddServers(planner.bindings, options);
    if (isFailure(odd)) return odd;
    return preparedMoves({ planner, moves, odd }, options, home);
  } finally {
    vault?.close();
  }
}

function unopened({ code, message, fix }: Failure): Failure {
  const isAsked = message.includes('needs its passphrase');
  const how = isAsked
    ? 'A server has no terminal: write the passphrase into a file of mode 0600, and name it as secrets.passphrase_file in config.toml.'
    : fix;
  return failure(code, `no secret can be moved: ${message}`, how);
}

/** Why config.toml cannot take these bindings. */
async function unfitFor(bindings: readonly Binding[], { paths }: SecretPlace) {
  const config = readConfigFile(paths.config);
  const text = config.kind === 'read' ? config.text : '';
  const next = bindings.length === 0 ? '' : await withBindings(text, bindings, paths.config);
  return typeof next === 'string' ? undefined : next;
}

/**
 * The servers whose bindings config.toml cannot take, and why: a server with an odd name keeps no
 * other one's secrets in plain text. A failure where none can be taken.
 */
async function oddServers(
  bindings: readonly Binding[],
  options: SecretPlace,
): Promise<ReadonlyMap<string, string> | Failure> {
  const odd = new Map<string, string>();
  const unfit = await unfitFor(bindings, options);
  if (unfit === undefined) return odd;
  for (const one of bindings) {
    const why = await unfitFor([one], options);
    if (why !== undefined) odd.set(one.server, why.message);
  }
  const fit = bindings.filter(({ server }) => !odd.has(server));
  const isNone = fit.length === 0 || (await unfitFor(fit, options)) !== undefined;
  return isNone ? unfit : odd;
}

interface MoveParts {
  readonly planner: MovePlanner;
  readonly moves: ReadonlyMap<MovableFile, readonly SecretMove[]>;
  readonly odd: ReadonlyMap<string, string>;
}

function preparedMoves(
  { planner, moves, odd }: MoveParts,
  options: SecretPlace,
  home: VaultHome,
): PreparedMoves {
  const file = { paths: options.paths, store: storeAt(options.paths) };
  const isFit = ({ server }: { readonly server: string }) => !odd.has(server);
  const bindings = planner.bindings.filter(isFit);
  const all = [...moves.values()].flat().filter(isFit);
  const stays = [...odd].map(
    ([server, why]) => `the secrets of ${server} stay in plain text: ${why}`,
  );
  let end = (): void => undefined;
  return {
    kind: 'moves',
    of: (one) => (moves.get(one) ?? []).filter(isFit),
    bound: home.servers,
    warnings: [...home.warnings, ...planner.warnings, ...stays],
    store: async (onStep) => {
      const unsafe = ensurePrivateFolder(options.paths.home);
      if (unsafe !== undefined) return unsafe;
      const names = new Set(all.map(({ secret }) => secret));
      const secrets = [...planner.secrets].filter(([name]) => names.has(name));
      const named = secrets.map(([name, value]) => ({ name, value: value() }));
      const added = named.length === 0 ? undefined : await addSecrets(home.vault, named);
      if (isFailure(added)) return added;
      onStep?.('secrets stored');
      const begun = beginMove(all.map(bindingName), file.store);
      if (typeof begun === 'object') return begun;
      end = begun;
      const unbound = await addBindings(bindings, file);
      if (unbound !== undefined) return unbound;
      onStep?.('servers bound');
      return { kind: 'stored', ...(added?.isNew === true && { newStore: added.protection }) };
    },
    unbind: async (list) => {
      const gone = bindings.filter(({ server, secret }) =>
        list.some((one) => one.server === server && one.secret === secret),
      );
      await removeBindings(gone, file);
    },
    end: () => end(),
  };
}

// Which secrets a config lacks after a change, and how each came out of it.

interface Moving {
  readonly path: string;
  readonly format: Format;
  /** Of the record of the config. */
  readonly key: string;
  readonly store: ChangeStore;
  readonly moves: readonly SecretMove[];
  /** Makes the config without its secrets start shims. */
  readonly rewrite: (
    baseText: string,
    moved: readonly MovedSecret[],
  ) => RewrittenConfig | ConfigFailure;
}

/** Cuts the secrets out first, so that the base in the record holds none of them. */
export function movingRewrite(
  moving: Moving,
): (baseText: string) => RewrittenConfig | ConfigFailure {
  const { path, format, moves, rewrite } = moving;
  return (baseText) => {
    const targets = moves.map(({ value, ...move }) => ({ path: move.path, value: value(), move }));
    const out = cutAll(baseText, { format, targets });
    if (out.left.length > 0) {
      const message = `${path} has changed since its secrets were looked at.`;
      return configFailure(path, message, 'Try again.');
    }
    const { text } = out;
    const moved_at = new Date().toISOString();
    const paths = moves.map((move) => move.path);
    const document = documentIn(text, format, paths);
    const cuts = out.cuts.map(({ target: { move }, cut }): MovedSecret => {
      const started = startDigest(document, move.path);
      return { ...move, moved_at, ...definedFields({ started }), cut };
    });
    const moved = movedUpTo(moving, { before: baseText, after: text, cuts });
    const rewritten = rewrite(text, moved);
    if ('kind' in rewritten) return rewritten;
    return moved.length === 0 ? rewritten : { ...rewritten, base: text, moved };
  };
}

/** Adds the secrets that were moved earlier; with their exact places while the config is unchanged. */
function movedUpTo(
  { key, store, format }: Moving,
  step: { readonly before: string; readonly after: string; readonly cuts: readonly MovedSecret[] },
): readonly MovedSecret[] {
  const found = readRecord(key, store.paths);
  const record = found.kind === 'record' ? found.record : undefined;
  const earlier = record?.moved ?? [];
  if (record === undefined || earlier.length === 0) return step.cuts;
  const isBase = (text: string) => matchesDigest(record.base, Buffer.from(text));
  if (isBase(step.before)) return [...earlier, ...step.cuts];
  // A change that was killed has written its record, and not the config: this is the same one.
  if (isBase(step.after) && endsWith(earlier, step.cuts)) return earlier;
  const paths = earlier.map(({ path }) => path);
  const document = documentIn(step.before, format, paths);
  const still = earlier
    .filter(({ path }) => document?.valueAt(path) === undefined)
    .map(({ cut: _cut, ...one }) => one);
  return [...still, ...step.cuts];
}

function endsWith(all: readonly MovedSecret[], last: readonly MovedSecret[]): boolean {
  const wordsOf = (some: readonly MovedSecret[]) =>
    JSON.stringify(some.map(({ moved_at: _when, ...rest }) => rest));
  return wordsOf(all.slice(all.length - last.length)) === wordsOf(last);
}

// Copies of a config that earlier commands have kept beside its record, for people: what has moved
// into the store must not stay in them.

/** Gives whole sentences about copies that still hold a secret, or had to go. */
export function scrubCopies(
  key: string,
  moves: readonly SecretMove[],
  { paths }: ChangeStore,
): readonly string[] {
  const warnings: string[] = [];
  for (const name of moves.length === 0 ? [] : copiesOf(key, paths.backups)) {
    const path = join(paths.backups, name);
    try {
      const text = readOwn(path, CONFIG_BYTES_MAX)?.toString('utf8') ?? '';
      const clean = moves.reduce((left, { value, secret }) => without(left, value(), secret), text);
      const plain = unescaped(clean);
      if (moves.some(({ value }) => plain.includes(value()))) {
        rmSync(path);
        warnings.push(
          `${path}, a copy of the config, held a secret that has moved, and was removed.`,
        );
      } else if (clean !== text) writePrivateFile(path, Buffer.from(clean));
    } catch {
      warnings.push(`${path} still holds a secret that has moved: remove it.`);
    }
  }
  return warnings;
}

function copiesOf(key: string, folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(`${key}.`));
  } catch {
    return [];
  }
}

function without(text: string, value: string, secret: string): string {
  const escaped = JSON.stringify(value).slice(1, -1);
  return text.replaceAll(escaped, `sub://${secret}`).replaceAll(value, `sub://${secret}`);
}

const SHORT = new Map(Object.entries({ b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b' }));
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|[ \t]*\r?\n\s*|([^]))/g;

/** What its strings say, whichever program has written them. */
function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (_all, ...groups: readonly (string | undefined)[]) => {
    const [four, eight, two, sign] = groups;
    const hex = four ?? eight ?? two;
    if (hex === undefined) return sign === undefined ? '' : (SHORT.get(sign) ?? sign);
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}
