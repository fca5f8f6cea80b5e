import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../stores/config/index.ts';
import { prepareServer } from './served-server.ts';

async function server(login: 'shared' | 'caller') {
  const home = mkdtempSync(join(tmpdir(), 'sub-served-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home, SUB_HOME: join(home, '.subluminal') };
  const loaded = await loadConfig({ env, cwd: home, flags: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const limits = {
    ...{ inspectBytesMax: 1_000, messageBytesMax: 10_000, orphanMs: 1_000 },
    ...{ graceMs: 100, termMs: 100, previewBytesMax: 100 },
  };
  const entry = {
    ...({ kind: 'remote', name: 'far', url: 'http://127.0.0.1:9/mcp', transport: 'auto' } as const),
    ...{ headers: {}, headerEnv: {}, bearerEnv: undefined, passToken: false, login },
  };
  const made = await prepareServer(entry, { env, loaded, limits, warn: () => {} });
  if (typeof made === 'string' || isFailure(made)) throw new Error(JSON.stringify(made));
  onTestFinished(() => made.close());
  return made;
}

/** Parts of secrets are redacted, too: no two of these have a part in common. */
const TOKENS = Array.from({ length: 100 }, (_, index) => hash('sha256', `${index}`));
const token = (index: number): string => TOKENS[index] ?? '';

test('the token of a caller is redacted, however many callers there are', async () => {
  const far = await server('caller');
  const callers = Array.from({ length: 100 }, () => far.redaction());
  for (const [index, { add }] of callers.entries()) add({ name: 'far', value: token(index) });
  const shown = () => callers.map(({ plain }, index) => plain(`It is ${token(index)}.`));
  await expect.poll(() => shown().at(-1), { timeout: 20_000 }).not.toContain(token(99));
  for (const [index, text] of shown().entries()) expect(text).not.toContain(token(index));
});

test('a token that all callers share is redacted for each of them', async () => {
  const far = await server('shared');
  far.redaction().add({ name: 'far', value: token(1) });
  const { plain } = far.redaction();
  await expect.poll(() => plain(`It is ${token(1)}.`)).not.toContain(token(1));
});
