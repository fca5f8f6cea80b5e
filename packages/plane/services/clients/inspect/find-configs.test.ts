import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENTS, type Client, clientOf } from '../index.ts';
import { findConfigs } from './find-configs.ts';

test('a file that two clients read is found once, and for each of them by itself', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-configs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.copilot'));
  writeFileSync(join(folder, '.mcp.json'), '{"mcpServers": {"a": {"command": "x"}}}');
  const place = { platform: 'linux', userHome: folder, project: folder, env: {} } as const;
  const idsFor = (clients: readonly Client[]) =>
    findConfigs({ place, clients }).found.map(({ client }) => client.id);
  expect(idsFor(CLIENTS)).toEqual(['claude-code']);
  expect(idsFor([clientOf('copilot-cli')])).toEqual(['copilot-cli']);
});
