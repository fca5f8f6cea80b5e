// The ledger that this user has, for commands: what cannot be opened becomes a failure to report.

import { type Failure, failure } from '@subluminal/contracts';
import type { Verifier } from '@subluminal/core/ports';
import {
  findLedger as find,
  findVerifier as findKey,
  type HomeFault,
  isHomeFault,
  type LedgerHome,
  withReader as read,
  withWriter as write,
} from '@subluminal/plane/daemon';
import type { Ledger, StoreReader } from '@subluminal/plane/ledger';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

/** Where the ledger is, by the configuration. Nothing is opened or made. */
export async function findLedger(): Promise<LedgerHome | Failure> {
  return told(await find({ env: process.env, cwd: process.cwd() }));
}

/** Runs `work` on the ledger that is there, for looking at only. */
export async function withReader<T>(
  home: LedgerHome,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  return told(await read(home, work));
}

interface WriterWish {
  readonly io: Io;
  /** Make the ledger when there is none. */
  readonly create: boolean;
  /** Go on with a ledger that does not follow from what was signed, and record that. */
  readonly acceptsRollback?: boolean;
}

/** Runs `work` as the one writer of the ledger, and signs what it leaves. */
export async function withWriter<T>(
  home: LedgerHome,
  { io, create, acceptsRollback = false }: WriterWish,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T | Failure> {
  const wish = { create, acceptsRollback, warn: (text: string) => warn(io, text) };
  return told(await write(home, wish, work));
}

/** Undefined without a key: then nothing can be proven. */
export async function findVerifier(path: string): Promise<Verifier | Failure | undefined> {
  return told(await findKey(path));
}

function told<T>(value: T | HomeFault): T | Failure {
  return isHomeFault(value) ? failureOf(value) : value;
}

/** What can be mended, for whoever reports it; several things are a line each, in their order. */
export function failureOf({ code, message, fix, others = [] }: HomeFault): Failure {
  for (const one of others) {
    process.stderr.write(`sub: ${harmless(one.message)} ${harmless(one.fix)} [${one.code}]\n`);
  }
  return failure(code, message, fix);
}

export function warn(io: Io, message: string): void {
  io.err.write(`sub: ${harmless(message)}\n`);
}

export type { LedgerHome };
