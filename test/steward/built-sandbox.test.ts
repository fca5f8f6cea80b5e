// The thread of sandboxed tools as it is shipped: one file with QuickJS in it, and its WebAssembly beside it.
import { join } from 'node:path';
import { parseAs, TOOL_MANIFEST, withDefaults } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { runSandboxed, sandboxUpstream } from '../../packages/steward/sandbox/index.ts';
import { ensureBuilt, ROOT } from '../e2e/sub.ts';

test('the built sandbox runs a tool and ends one that does not end', async () => {
  ensureBuilt();
  const given = {
    name: 'x',
    description: 'x',
    input: { type: 'object' },
    limits: { time_ms: 500 },
  };
  const read = parseAs(TOOL_MANIFEST, withDefaults(TOOL_MANIFEST, given));
  if (!read.ok) throw new Error('no manifest');
  const upstream = sandboxUpstream();
  const run = (body: string) =>
    runSandboxed({
      program: { kind: 'js', code: `export default (input) => { ${body} }` },
      manifest: read.value,
      input: { city: 'Paris' },
      signal: new AbortController().signal,
      ports: {
        workerFile: join(ROOT, 'packages', 'cli', 'dist', 'sandbox', 'sandbox-worker.mjs'),
        upstream,
        secret: () => Promise.reject(new Error('nobody asks')),
        protectedFolders: [],
      },
    });
  expect(await run('return input.city.length;')).toEqual({ kind: 'done', value: 5, log: '' });
  expect(await run('for (;;) {}')).toMatchObject({ kind: 'failed' });
  await upstream.close();
});
