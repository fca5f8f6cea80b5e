// The ledger that a user has: where it is, and how it is opened with its key and its witness.
import { existsSync } from 'node:fs';
import { catchFailure, type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { ensureKeyFile, readKeyFile } from '../../os/crypto/index.ts';
import {
  type ApprovalSettings,
  type Config,
  type ConfigFailure,
  ensurePrivateFolder,
  type HomePaths,
  loadConfig,
} from '../../stores/config/index.ts';
import {
  fileWitness,
  type Ledger,
  ledgerFailure,
  openLedger,
  openSqliteReader,
  openSqliteStore,
  type StoreReader,
  type Witness,
} from '../../stores/ledger/index.ts';

export interface LedgerHome {
  readonly config: Config;
  readonly paths: HomePaths;
  readonly file: string;
  /** Keeps the last head outside the database. */
  readonly witness: Witness;
  /** How people are asked; undefined where the configuration says nothing about it. */
  readonly approvals: ApprovalSettings | undefined;
  readonly notice?: ((message: string) => void) | undefined;
}

export interface Whereabouts {
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** Told of each problem of the configuration before the one that is returned. */
  readonly onProblem?: (failure: Failure) => void;
  /** Told when a reader must upgrade the ledger first, which may take a while. */
  readonly notice?: (message: string) => void;
}

/** Where the ledger is, by the configuration. Nothing is opened or made. */
export async function findLedger(where: Whereabouts): Promise<LedgerHome | Failure> {
  const loaded = await loadConfig(where);
  if (!loaded.ok) {
    const failures = loaded.problems.map(configFailure);
    const last = failures.pop();
    for (const one of failures) where.onProblem?.(one);
    if (last === undefined) throw new Error('a configuration failed without a problem');
    return last;
  }
  const { config, paths, approvals } = loaded;
  const file = config['ledger.path'];
  const witness = fileWitness(`${file.replace(/\.db$/, '')}.head`);
  return { config, paths, file, witness, approvals, notice: where.notice };
}

/** Runs `work` on the ledger that is there, for looking at only. */
export async function withReader<T>(
  { file, notice }: LedgerHome,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  return ledgerFailures(file, async () => {
    const reader = await openSqliteReader({ file, notice });
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  });
}

export interface WriterWish {
  /** Make the ledger when there is none. */
  readonly create: boolean;
  readonly warn: (message: string) => void;
  /** Go on with a ledger that does not follow from what was signed, and record that. */
  readonly acceptsRollback?: boolean;
}

/** Opens the ledger for its one writer. */
export async function openWriter(home: LedgerHome, wish: WriterWish): Promise<Ledger | Failure> {
  return ledgerFailures(home.file, async () => {
    const { file, paths } = home;
    if (!wish.create && !existsSync(file)) throw ledgerFailure('SUB_LEDGER_MISSING', file);
    const unsafe = ensurePrivateFolder(paths.home);
    return unsafe ?? openSigned(home, wish);
  });
}

async function openSigned(
  { file, paths, witness }: LedgerHome,
  { warn: onWarning, acceptsRollback = false }: WriterWish,
): Promise<Ledger | Failure> {
  const store = await openSqliteStore({ file });
  let ledger: Ledger | undefined;
  try {
    // Behind the lock of the store, so that two who start at once do not make two keys.
    const isNew = (await store.lastHead()) === undefined && (await store.tip()).seq === 0;
    const signer = findSigner(paths.ledgerKey, isNew);
    if (isFailure(signer)) return signer;
    const onRollback = acceptsRollback ? 'record' : 'refuse';
    ledger = await openLedger({ store, signer, witness, nowMs: Date.now, onWarning, onRollback });
    return ledger;
  } finally {
    if (ledger === undefined) await store.close();
  }
}

/** Runs `work` as the one writer of the ledger, and signs what it leaves. */
export async function withWriter<T>(
  home: LedgerHome,
  wish: WriterWish,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T | Failure> {
  return ledgerFailures(home.file, async () => {
    const ledger = await openWriter(home, wish);
    if (isFailure(ledger)) return ledger;
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  });
}

/** The key of the ledger. A new ledger gets one; an old one without its key is not signed anew. */
function findSigner(path: string, isNew: boolean): Signer | Failure {
  const found = isNew ? ensureKeyFile(path) : readKeyFile(path);
  if (found !== undefined) return found;
  const message = `${path} is missing, and the ledger has events that were signed with it.`;
  return failure('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
}

/** Undefined without a key: then nothing can be proven. */
export async function findVerifier(path: string): Promise<Verifier | Failure | undefined> {
  return readKeyFile(path);
}

function configFailure({ code, where, message, fix }: ConfigFailure): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

/** Returns what `work` throws as a failure of this file. Everything else that it throws is a defect. */
async function ledgerFailures<T>(file: string, work: () => Promise<T>): Promise<T | Failure> {
  const result = await catchFailure(work);
  if (!isFailure(result)) return result;
  const { code, message, fix } = result;
  if (code === 'SUB_LEDGER_MISSING') return failure(code, `there is no ledger at ${file}.`, fix);
  if (code === 'SUB_LEDGER_LOCKED') return failure(code, `another process writes to ${file}.`, fix);
  return failure(code, message.endsWith('.') ? message : `${message}.`, fix);
}
