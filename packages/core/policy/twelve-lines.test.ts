// "No shell, never `.env`, write only below `src/`, at most 200 calls, ask before `git push`, nothing
// secret leaves" in twelve lines.
import type { JsonObject } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { ProjectPaths } from '../ports.ts';
import { compileBundle } from './compile/snapshot.ts';
import { sectionsFor } from './decide/sections-for.ts';
import { parseWithEngines } from './read/parse.ts';
import { type Run, runOf } from './testing/scenario.ts';

const POLICY = `policy_id: my-project
version: "1"
mode: control
content: { outbound: { secret: block } }
rules:
  - { rule_id: no-shell, kind: deny, effect: { action: BLOCK }, match: { tool_name: { glob: ["*{shell,bash,exec,command}*"], ignore_case: true } } }
  - { rule_id: never-env, kind: deny, effect: { action: BLOCK }, match: { any_arg: { path_matches: ["**/.env*"] } } }
  - { rule_id: only-below-src, kind: deny, effect: { action: BLOCK },
      match: { tool_name: { glob: ["{write,edit,create,move,delete}*"] }, args: { not_path_under: { "{path,source,destination}": [src] } } } }
  - { rule_id: 200-calls, kind: budget, match: {}, effect: { budget: { scope: run, limit_calls: 200, on_exceed: BLOCK } } }
  - { rule_id: ask-before-push, kind: approval, match: { tool_name: { glob: ["*push*"] } }, effect: { approval: { wait: hold } } }
`;

const PATHS: ProjectPaths = {
  project: '/work',
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
    ['read_file', { path: 'file:///work/src/%2e%2e/.env.local' }, 'never-env'],
    ['search', { pattern: 'token', include: ['**/.env*'] }, 'never-env'],
    ['write_file', { path: 'src/a.ts', content: 'The file .env is\nnot read.' }, null],
    ['write_file', { path: 'README.md', content: '' }, 'only-below-src'],
    ['write_file', { file: 'src/a.ts' }, 'only-below-src'],
    ['move_file', { source: 'src/a.ts', destination: 'src/b.ts' }, null],
    ['move_file', { source: 'src/a.ts', destination: '/tmp/a.ts' }, 'only-below-src'],
    ['execute_Command', { command: 'ls' }, 'no-shell'],
    ['git_push', { remote: 'origin' }, 'ask-before-push'],
  ])('decides %s of %j by %s', async (tool_name, args, rule) => {
    const run = await start();
    const { decision } = run.call({ tool_name, args }, 0);
    expect([decision.rule_id, decision.action === 'ALLOW']).toEqual([rule, rule === null]);
  });

  it('stops the call after the 200th', async () => {
    const run = await start();
    for (let count = 0; count < 200; count++) run.call({ tool_name: 'read_file' }, count);
    expect(run.call({ tool_name: 'read_file' }, 200).decision.rule_id).toBe('200-calls');
  });

  it('has at most twelve lines', () => {
    expect(POLICY.trim().split('\n').length).toBeLessThanOrEqual(12);
  });
});
