import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isFailure } from '@subluminal/contracts';
import { findLedger, runLedgerd } from '@subluminal/plane/daemon';
import { openSqliteStore } from '@subluminal/plane/ledger';
import { expect, onTestFinished, test } from 'vitest';
import { processIo } from '../terminal/io.ts';
import { changeLedger } from './writer.ts';

const io = processIo(true);

/** A home whose ledger somebody else holds. */
async function heldHome() {
  const folder = mkdtempSync(join(tmpdir(), 'sub-writer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { SUB_HOME: folder, HOME: folder };
  const home = await findLedger({ env, cwd: '/' });
  if (isFailure(home)) throw new Error(home.message);
  return { home, env, holder: await openSqliteStore({ file: home.file }) };
}

test('a writer gives up on a ledger that another process keeps, in a bounded time', async () => {
  const { home, holder } = await heldHome();
  let isAtWork = false;
  const changed = await changeLedger(home, { io, create: true, lockMs: 120 }, async () => {
    isAtWork = true;
  });
  expect(changed).toMatchObject({ code: 'SUB_LEDGER_LOCKED' });
  expect(isAtWork).toBe(false);
  await holder.close();
});

test('a writer waits for a daemon that does not answer yet, and writes through it', async () => {
  const { home, env, holder } = await heldHome();
  const changed = changeLedger(home, { io, create: true }, (writer) => writer.count({}));
  // Long enough to be refused at least once.
  await pause(120);
  const ending = new AbortController();
  const where = { env, cwd: '/', signal: ending.signal };
  const log: string[] = [];
  // It takes the ledger over from the holder, as fast as the change would.
  const daemon = runLedgerd({ ...where, auto: false, version: '1', log: (text) => log.push(text) });
  await holder.close();
  expect(await changed).toEqual({ runs: 0, events: null });
  await expect.poll(() => log.join('\n'), { timeout: 10_000 }).toContain('serving');
  ending.abort();
  expect(await daemon).toEqual({ kind: 'ended' });
});
