// Which programs start a ledger that nobody has started yet.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../stores/config/index.ts';
import { startLedgerd } from './start.ts';

/** A program of this name, which fails at once where it is started as a ledger. */
async function startedBy(name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, name);
  const mark = join(folder, 'started');
  writeFileSync(
    program,
    `process.getBuiltinModule('fs').writeFileSync('${mark}', ''); process.exit(1);`,
  );
  const env = { HOME: folder };
  const loaded = await loadConfig({ env, flags: {}, cwd: folder });
  if (!loaded.ok) throw new Error('the settings cannot be read');
  const { argv } = process;
  process.argv = [process.execPath, program];
  onTestFinished(() => void (process.argv = argv));
  return new Promise((resolve) => {
    const { kind } = startLedgerd({ env, ...loaded }, () => resolve(existsSync(mark)));
    if (kind === 'failed') resolve(kind);
  });
}

test.each(['sub', 'sub.mjs', 'sub.cjs'])('%s starts itself as the ledger', async (name) => {
  expect(await startedBy(name)).toBe(true);
});

test('a program that is no `sub` starts nothing', async () => {
  expect(await startedBy('vitest.mjs')).toBe('failed');
});
