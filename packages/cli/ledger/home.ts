// The ledger that this user has, for commands: what cannot be opened becomes a failure to report.
import type { Verifier } from '@subluminal/core/ports';
import type { Ledger, StoreReader } from '@subluminal/plane/ledger';
import {
  findLedger as find,
  findVerifier as findKey,
  type HomeFault,
  isHomeFault,
  type LedgerHome,
  withReader as read,
  withWriter as write,
} from '@subluminal/plane/main/ledgerd';
import { type Failure, failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { harmless } from '../text.ts';

/** Where the ledger is, by the configuration. Nothing is opened or made. */
async function findLedger(): Promise<LedgerHome | Failure> {
  return told(await find({ env: process.env, cwd: process.cwd() }));
}

/** Runs `work` on the ledger that is there, for looking at only. */
async function withReader<T>(
  home: LedgerHome,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  return told(await read(home, work));
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
  return told(await write(home, { create, warn: (text) => warn(io, text) }, work));
}

/** Undefined without a key: then signatures cannot be checked. */
async function findVerifier(path: string): Promise<Verifier | Failure | undefined> {
  return told(await findKey(path));
}

function told<T>(value: T | HomeFault): T | Failure {
  return isHomeFault(value) ? failure(value.code, value.message, value.fix) : value;
}

function warn(io: Io, message: string): void {
  io.err.write(`sub: ${harmless(message)}\n`);
}

export type { LedgerHome };
export { findLedger, findVerifier, warn, withReader, withWriter };
