// "No shell, never `.env`, write only below `src/`, at most 200 calls, ask before `git push`, nothing
// secret leaves" in twelve lines, as docs/start/twelve-lines.md has them.
import { readFileSync } from 'node:fs';
import type { JsonObject } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { ProjectPaths } from '../ports.ts';
import { compileBundle } from './compile/snapshot.ts';
import { sectionsFor } from './decide/sections-for.ts';
import { parseWithEngines } from './read/parse.ts';
import { type Run, runOf } from './testing/scenario.ts';

const PAGE = readFileSync(new URL('../../../docs/start/twelve-lines.md', import.meta.url), 'utf8');
const [, POLICY = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? [];

const PATHS: ProjectPaths = {
  project: '/repo',
  home: '/home/me',
  tmp: '/tmp',
  env: {},
  isCaseless: false,
  lookup: () => (path) => path,
};

async function start(): Promise<Run> {
  const source = { file: 'policy.yaml', bytes: new TextEncoder().encode(POLICY) };
  const parsed = await parseWithEngines(source);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const sha256 = (text: string) => text.length.toString(16).padStart(64, '0');
  const snapshot = await compileBundle(parsed.bundle, { sha256, paths: PATHS });
  expect(sectionsFor(snapshot).content?.outbound.secret).toBe('block');
  return runOf(snapshot);
}

describe('a policy of twelve lines', () => {
  it.each<[string, JsonObject, string | null]>([
    ['read_file', { path: 'src/a.ts' }, null],
    ['read_file', { path: '.env' }, 'never-env'],
    ['read_file', { path: 'file:///repo/src/%2e%2e/.env.local' }, 'never-env'],
    ['search', { pattern: 'token', include: ['**/.env*'] }, 'never-env'],
    ['write_file', { path: 'src/a.ts', content: 'The file .env is\nnot read.' }, null],
    ['write_file', { path: 'README.md', content: '' }, 'only-src'],
    ['write_file', { at: 'src/a.ts' }, 'only-src'],
    ['move_file', { source: 'src/a.ts', destination: 'src/b.ts' }, null],
    ['move_file', { source: 'src/a.ts', destination: '/tmp/a.ts' }, 'only-src'],
    ['execute_Command', { command: 'ls' }, 'no-shell'],
    ['git_push', { remote: 'origin' }, 'ask-push'],
    ['git_Push', {}, 'ask-push'],
    ['Bash', { x: 'ls' }, 'no-shell'],
    ['terminal', { x: 'ls' }, 'no-shell'],
    ['start_process', { x: 'ls' }, 'no-shell'],
    ['WriteFile', { path: '/etc/x' }, 'only-src'],
    ['append_file', { path: 'README.md' }, 'only-src'],
    ['delete_file', { path: '/etc/x' }, 'only-src'],
    ['apply_patch', { patch: '--- a/x\n+++ b/../../x' }, 'only-src'],
    ['delete_file', { path: 'src/old.ts' }, null],
    ['write_file', { path: 'src/ok', file_path: '/etc/passwd' }, 'only-src'],
    ['write_file', { path: 'src/ok', files: [{ name: '/etc/passwd' }] }, 'only-src'],
    ['write_file', { path: 'src/ok', to: '/etc/passwd' }, 'nowhere-else'],
    ['write_file', { path: 'src/ok', where: ['../x'] }, 'nowhere-else'],
    ['edit_file', { path: 'src/a', edits: [{ newText: 'import "../b"; // /etc' }] }, null],
  ])('decides %s of %j by %s', async (tool_name, args, rule) => {
    const run = await start();
    const { decision } = run.call({ tool_name, args }, 0);
    expect([decision.rule_id, decision.action === 'ALLOW']).toEqual([rule, rule === null]);
  });

  it('stops the call after the 200th', async () => {
    const run = await start();
    for (let count = 0; count < 200; count++) run.call({ tool_name: 'read_file' }, count);
    expect(run.call({ tool_name: 'read_file' }, 200).decision.rule_id).toBe('at-most-200');
  });
});
