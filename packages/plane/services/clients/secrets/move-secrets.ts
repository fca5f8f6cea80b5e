// Which secrets of some configs move into the store, under which names, and the two steps that come
// before a config may lack them: they are stored, and their servers are bound to them.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
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

import type { ConfigRecord } from '../store/record-text.ts';
import { matchesDigest, readRecord } from '../store/records.ts';
import { readDocument } from '../text/document.ts';
import {
  addBindings,
  type Binding,
  type BindingName,
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
  /** What stays where it is, and why; whole sentences. */
  readonly warnings: readonly string[];
  /** Stores and binds; then, and not before, the configs may change. */
  readonly store: (onStep?: (step: MoveStep) => void) => Promise<StoredSecrets | Failure>;
  /** Takes the new bindings out again: of a config that could not be changed after all. */
  readonly unbind: (moves: readonly SecretMove[]) => Promise<void>;
  /** Once all configs are changed, or left: until then a killed process leaves a trace. */
  readonly end: () => void;
}

export async function vaultOptions(options: SecretPlace): Promise<VaultOptions | Failure> {
  const ready = await readHome(options);
  return 'kind' in ready ? ready : ready.vault;
}

interface VaultHome {
  readonly vault: VaultOptions;
  readonly servers: Servers;
  readonly warnings: readonly string[];
}

async function readHome(options: SecretPlace): Promise<VaultHome | Failure> {
  const { env, project, paths, keychain } = options;
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  if (!loaded.ok) {
    const [first] = loaded.problems;
    const { code, where, message, fix } = first ?? unreadable(paths.config);
    return failure(code, `${where}: ${message}.`, fix);
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
): Promise<PreparedMoves | Failure> {
  const home = await readHome(options);
  if ('kind' in home) return home;
  const vault = await openVault(home.vault);
  if (isFailure(vault)) return unopened(vault);
  try {
    const others = serversByName(
      options,
      files.map(({ found }) => found),
    );
    const planning = new MovePlanner({ servers: home.servers, others, vault, env: options.env });
    const moves = new Map(files.map((file) => [file, planning.movesOf(file)]));
    const unfit = await unfitFor(planning.bindings, options);
    if (unfit === undefined) return movesOf(planning, moves, { options, home });
    return (await withoutUnfit({ planning, moves, unfit }, { options, home })) ?? unfit;
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

async function unfitFor(bindings: readonly Binding[], { paths }: SecretPlace) {
  const config = readConfigFile(paths.config);
  const text = config.kind === 'read' ? config.text : '';
  const next = bindings.length === 0 ? '' : await withBindings(text, bindings, paths.config);
  return typeof next === 'string' ? undefined : next;
}

interface UnfitBindings {
  readonly planning: MovePlanner;
  readonly moves: ReadonlyMap<MovableFile, readonly SecretMove[]>;
  readonly unfit: Failure;
}

interface MoveContext {
  readonly options: SecretPlace;
  readonly home: VaultHome;
}

/** A server with an odd name keeps no other one's secrets in plain text. Undefined where none is left. */
async function withoutUnfit({ planning, moves, unfit }: UnfitBindings, place: MoveContext) {
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
  { bindings, secrets, warnings }: Pick<MovePlanner, 'bindings' | 'secrets' | 'warnings'>,
  moves: ReadonlyMap<MovableFile, readonly SecretMove[]>,
  { options, home }: MoveContext,
): PreparedMoves {
  const file = { paths: options.paths, store: storeAt(options.paths) };
  let end = (): void => undefined;
  return {
    kind: 'moves',
    of: (one) => moves.get(one) ?? [],
    bound: home.servers,
    warnings: [...home.warnings, ...warnings],
    store: async (onStep) => {
      const unsafe = ensurePrivateFolder(options.paths.home);
      if (unsafe !== undefined) return unsafe;
      const named = [...secrets].map(([name, value]) => ({ name, value: value() }));
      const added = named.length === 0 ? undefined : await addSecrets(home.vault, named);
      if (isFailure(added)) return failure(added.code, added.message, added.fix);
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

function nameOf({ server, path, secret }: SecretMove): BindingName {
  return { server, variable: String(path.at(-1)), secret };
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
  readonly rewrite: (baseText: string) => RewrittenConfig | ConfigFailure;
}

/** The secrets go first, so that what is kept as the base holds none of them. */
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
    const read = readDocument(
      text,
      format,
      moves.map((move) => move.path),
    );
    const document = read.kind === 'document' ? read.document : undefined;
    const cuts = out.cuts.map(({ target: { move }, cut }): MovedSecret => {
      const started = startDigest(document, move.path);
      return { ...move, moved_at, ...(started !== undefined && { started }), cut };
    });
    const rewritten = rewrite(text);
    if ('kind' in rewritten) return rewritten;
    const moved = chain(moving, { before: baseText, after: text, cuts });
    return moved.length === 0 ? rewritten : { ...rewritten, base: text, moved };
  };
}

interface CutStep {
  readonly before: string;
  readonly after: string;
  readonly cuts: readonly MovedSecret[];
}

/** Those that were moved earlier stay known; to the byte, while nobody else has changed the config. */
function chain({ key, store, format }: Moving, step: CutStep): readonly MovedSecret[] {
  const found = readRecord(key, store.paths);
  const record = found.kind === 'record' ? found.record : undefined;
  const earlier = record?.moved ?? [];
  if (record === undefined || earlier.length === 0) return step.cuts;
  if (isBase(step.before, record)) return [...earlier, ...step.cuts];
  // A change that was killed has written its record, and not the config: this is the same one.
  if (isBase(step.after, record) && endsWith(earlier, step.cuts)) return earlier;
  const read = readDocument(
    step.before,
    format,
    earlier.map(({ path }) => path),
  );
  const still = earlier
    .filter(({ path }) => read.kind === 'broken' || read.document.valueAt(path) === undefined)
    .map(({ cut: _cut, ...one }) => one);
  return [...still, ...step.cuts];
}

function isBase(text: string, { base }: ConfigRecord): boolean {
  return matchesDigest(base, Buffer.from(text));
}

function endsWith(all: readonly MovedSecret[], last: readonly MovedSecret[]): boolean {
  const wordsOf = (some: readonly MovedSecret[]) =>
    JSON.stringify(some.map(({ moved_at: _when, ...rest }) => rest));
  return wordsOf(all.slice(all.length - last.length)) === wordsOf(last);
}

// Copies of a config that earlier commands have kept beside its record, for people: what has moved
// into the store must not stay in them.

interface Scrubbed {
  /** Those that could not be changed, and still hold it. */
  readonly holding: readonly string[];
  /** Those that held it behind escapes, and are gone. */
  readonly removed: readonly string[];
}

export function scrubCopies(
  key: string,
  moves: readonly SecretMove[],
  { paths }: ChangeStore,
): Scrubbed {
  const [holding, removed]: [string[], string[]] = [[], []];
  for (const name of moves.length === 0 ? [] : copiesOf(key, paths.backups)) {
    const path = join(paths.backups, name);
    try {
      const text = readOwn(path, CONFIG_BYTES_MAX)?.toString('utf8') ?? '';
      const clean = moves.reduce((left, { value, secret }) => without(left, value(), secret), text);
      const plain = unescaped(clean);
      if (moves.some(({ value }) => plain.includes(value()))) {
        rmSync(path);
        removed.push(path);
      } else if (clean !== text) writePrivateFile(path, Buffer.from(clean));
    } catch {
      holding.push(path);
    }
  }
  return { holding, removed };
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

const SHORT: { readonly [letter: string]: string } = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
};
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|[ \t]*\r?\n\s*|([^]))/g;

/** What its strings say, whichever program has written them. */
function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (_all, ...groups: readonly (string | undefined)[]) => {
    const [four, eight, two, sign] = groups;
    const hex = four ?? eight ?? two;
    if (hex === undefined) return sign === undefined ? '' : (SHORT[sign] ?? sign);
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}
