// The first minutes of a new user: the packed product, `sub init`, `sub import`, and a session of the real
// Claude Code that is kept from `.env` and may write below `src/`.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { INSTALL_MS, installTarball, packInto } from '../packed.ts';
import { startModelServer } from './model-server.ts';
import { REAL_CLIENTS } from './real-client.ts';
import { call, text } from './script.ts';
import { setStage } from './stage.ts';

const SECRET = 'the-value-that-stays-home';
const DONE = 'That is all.';

const claude = REAL_CLIENTS.find(({ id }) => id === 'claude-code');
let folder = '';
let sub = '';
beforeAll(() => {
  if (claude?.binFolder === undefined) return;
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-first-'));
  for (const name of ['home', 'tool']) mkdirSync(join(folder, name));
  sub = installTarball(packInto(folder), join(folder, 'tool'));
}, INSTALL_MS);
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('after `sub init` and `sub import`, Claude Code is refused on .env and allowed on src/', async ({
  skip,
}) => {
  if (claude?.binFolder === undefined) return skip('Claude Code is not installed');
  const model = await startModelServer();
  const { binFolder } = claude;
  const stage = setStage({ binFolder, env: claude.env(model.url), sub });
  onTestFinished(async () => {
    stage.clear();
    await model.close();
  });
  const [config] = claude.configs(stage, model.url);
  if (config === undefined) throw new Error('Claude Code has a config');
  writeFileSync(config.path, config.text);
  const inProject = (...names: string[]) => join(stage.project, ...names);
  mkdirSync(inProject('src'));
  writeFileSync(inProject('.env'), `API_PASSWORD=${SECRET}\n`);
  writeFileSync(inProject('src', 'app.ts'), 'export const answer = 42;\n');

  const made = await stage.sub('init');
  expect(made, made.stderr).toMatchObject({ code: 0 });
  expect(existsSync(inProject('.subluminal', 'policy.yaml'))).toBe(true);
  const imported = await stage.sub('import', 'claude', '--yes');
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(config.path, 'utf8')).toContain(folder);

  model.play([
    call('files', 'read_text_file', { path: inProject('.env') }),
    call('files', 'read_text_file', { path: inProject('src', 'app.ts') }),
    call('files', 'write_file', { path: inProject('src', 'new.ts'), content: 'export {};\n' }),
    text(DONE),
  ]);
  const session = await stage.run(claude.command);
  expect(session, session.stdout + session.stderr).toMatchObject({ code: 0 });
  expect(session.stdout).toContain(DONE);

  const [refused, read] = model.seen();
  expect(refused).toContain('Files with keys are closed to agents.');
  expect(refused).toContain('read .env.example for the names');
  expect(refused).not.toContain('MCP error');
  expect(JSON.stringify(model.requests())).not.toContain(SECRET);
  expect(read).toContain('answer = 42');
  expect(readFileSync(inProject('src', 'new.ts'), 'utf8')).toBe('export {};\n');

  await stage.quiet();
  expect(await stage.calls(3)).toMatchObject([
    { tool_name: 'read_text_file', decision: 'REJECT_WITH_HINT', rule_id: 'no-secret-files' },
    { tool_name: 'read_text_file', decision: 'ALLOW', rule_id: 'reads' },
    { tool_name: 'write_file', decision: 'ALLOW', status: 'OK' },
  ]);
});
