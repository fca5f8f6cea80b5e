// The ledger that this user has: where it is, its key, and what to say when it cannot be opened.
import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Signer, Verifier } from '@subluminal/core/ports';
import {
  type Config,
  type ConfigProblem,
  ensurePrivateFolder,
  formatConfigProblem,
  type HomePaths,
  loadConfig,
} from '@subluminal/plane/config';
import { createKeyPair, signerFromPem, verifierFromPems } from '@subluminal/plane/crypto';
import {
  fileWitness,
  type Ledger,
  LedgerError,
  openLedger,
  openSqliteReader,
  openSqliteStore,
  type StoreReader,
  type Witness,
} from '@subluminal/plane/ledger';
import { type Failure, failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { errorCode } from '../read-file.ts';
import { harmless } from '../text.ts';
import { createNewFile } from '../write-file.ts';

interface LedgerHome {
  readonly config: Config;
  readonly paths: HomePaths;
  readonly file: string;
  /** Keeps the last head outside the database. */
  readonly witness: Witness;
}

const PRIVATE_MODE = 0o600;

/** Where the ledger is, by the configuration. Nothing is opened or made. */
async function findLedger(): Promise<LedgerHome | Failure> {
  const loaded = await loadConfig({ env: process.env, cwd: process.cwd() });
  if (!loaded.ok) return configFailure(loaded.problems);
  const { config, paths } = loaded;
  const file = config['ledger.path'];
  return { config, paths, file, witness: fileWitness(`${file.replace(/\.db$/, '')}.head`) };
}

function configFailure([first, ...others]: readonly ConfigProblem[]): Failure {
  if (first === undefined) throw new Error('a configuration failed without a problem');
  const { code, where, message } = first;
  const more = others.map((problem) => ` ${formatConfigProblem(problem)}`).join('');
  return failure(code, `${where}: ${message}.${more}`, first.fix);
}

/** Runs `work` on the ledger that is there, for looking at only. */
async function withReader<T>(
  home: LedgerHome,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  return caught(home.file, async () => {
    const reader = await openSqliteReader({ file: home.file });
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  });
}

interface WriterWish {
  readonly io: Io;
  /** Make the ledger when there is none. */
  readonly create: boolean;
}

/** Runs `work` as the one writer of the ledger, and signs what it leaves. */
async function withWriter<T>(
  home: LedgerHome,
  { io, create }: WriterWish,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T | Failure> {
  return caught(home.file, async () => {
    if (!create && !existsSync(home.file)) throw new LedgerError('SUB_LEDGER_MISSING', home.file);
    const unsafe = ensurePrivateFolder(home.paths.home);
    if (unsafe !== undefined) return configFailure([unsafe]);
    const ledger = await openWriter(home, io);
    if (isFailure(ledger)) return ledger;
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  });
}

async function openWriter({ file, paths, witness }: LedgerHome, io: Io): Promise<Ledger | Failure> {
  const onWarning = (text: string) => io.err.write(`sub: ${harmless(text)}\n`);
  const store = await openSqliteStore({ file });
  let ledger: Ledger | undefined;
  try {
    // Behind the lock of the store, so that two who start at once do not make two keys.
    const isUnsigned = (await store.lastHead()) === undefined;
    const signer = await findSigner(paths.ledgerKey, isUnsigned);
    if (isFailure(signer)) return signer;
    ledger = await openLedger({ store, signer, witness, nowMs: Date.now, onWarning });
    return ledger;
  } finally {
    if (ledger === undefined) await store.close();
  }
}

/** The key of the ledger. A new ledger gets one; an old one without its key is not signed anew. */
async function findSigner(path: string, isUnsigned: boolean): Promise<Signer | Failure> {
  let pem = await readKey(path);
  if (pem === undefined) {
    if (!isUnsigned) {
      const message = `${path} is missing, and the ledger was signed with it.`;
      return failure('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
    }
    pem = createKeyPair().privatePem;
    const written = await createNewFile({ path, text: pem, mode: PRIVATE_MODE });
    if (isFailure(written)) return written;
  }
  if (isFailure(pem)) return pem;
  const made = signerFromPem(pem);
  return made.ok ? made.signer : badKey(path);
}

/** Undefined without a key: then signatures cannot be checked. */
async function findVerifier(path: string): Promise<Verifier | Failure | undefined> {
  const pem = await readKey(path);
  if (pem === undefined || isFailure(pem)) return pem;
  if (!signerFromPem(pem).ok) return badKey(path);
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  const made = verifierFromPems([publicPem]);
  return made.ok ? made.verifier : badKey(path);
}

async function readKey(path: string): Promise<string | Failure | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = errorCode(cause);
    if (code === 'ENOENT') return undefined;
    return failure('SUB_FILE_READ', `${path} cannot be read (${code}).`, 'Check its permissions.');
  }
}

function badKey(path: string): Failure {
  const message = `${path} holds no private ed25519 key.`;
  return failure('SUB_SNAPSHOT_KEY', message, 'Put the key of the ledger back.');
}

/** What the user can mend is told; everything else is a defect. */
async function caught<T>(file: string, work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof LedgerError)) throw cause;
    return ledgerFailure(cause, file);
  }
}

function ledgerFailure({ code, message, fix }: LedgerError, file: string): Failure {
  switch (code) {
    case 'SUB_LEDGER_MISSING': {
      const way = 'Run a shim with `--events file:events.jsonl`, then `sub ingest events.jsonl`.';
      return failure(code, `there is no ledger at ${file}.`, way);
    }
    case 'SUB_LEDGER_LOCKED':
      return failure(code, `another process writes to ${file}.`, 'Try again when it has ended.');
    default:
      return failure(code, message.endsWith('.') ? message : `${message}.`, fix);
  }
}

export type { LedgerHome };
export { findLedger, findVerifier, withReader, withWriter };
