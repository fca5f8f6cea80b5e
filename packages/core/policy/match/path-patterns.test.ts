import { describe, expect, it } from 'vitest';
import type { ProjectPaths } from '../../ports.ts';
import { initialState } from '../decide/verdict.ts';
import { explain } from '../explain/explain.ts';
import { callOf, deny, runOf, snapshotOf } from '../testing/scenario.ts';
import { compilePathPatterns, foldPath, pathPatternFault } from './path-patterns.ts';

const DISK: Omit<ProjectPaths, 'isCaseless'> = {
  project: '/Repo',
  home: '/Users/me',
  tmp: '/tmp',
  env: {},
  lookup: () => (path) => path,
};

describe('a path glob', () => {
  it.each([
    ['[A-_]*.PEM', '/x/Key.pem', true],
    ['[A-_]*.PEM', '/x/_key.pem', true],
    ['[A-_]*.PEM', '/x/1key.pem', false],
    ['Src/[!A-C]*', '/repo/src/Apple', false],
    ['Src/[!A-C]*', '/REPO/src/Dog', true],
  ])('folds its ranges on a disk without case: %s and %s, %s', (glob, path, expected) => {
    const paths = { ...DISK, isCaseless: true };
    expect(pathPatternFault(glob, 'path_matches')).toBeUndefined();
    const test = compilePathPatterns([glob], 'path_matches', paths);
    expect(test(foldPath(path, paths))).toBe(expected);
  });

  it.each([
    ['[z-a]x', 0],
    ['**/x[z-a]', 4],
    ['${project}/src/x[z-a]', 16],
    ['${project}/{a,b', 11],
    ['src/{a,b}/x[z-a]', 11],
    ['src/x[z-a]{a,b}', 0],
  ])('is faulty where its fault stands, or as a whole: %s', (glob, offset) => {
    expect(pathPatternFault(glob, 'path_matches')).toMatchObject({ offset });
  });

  it.each(['[\u200c]x', '[\u2100-\u212b]x'])(
    'is refused everywhere when some disk cannot compile it: %j',
    (glob) => {
      expect(pathPatternFault(glob, 'path_matches')).toMatchObject({ ok: false });
    },
  );
});

describe('rules about paths', () => {
  it.each([
    ['path_under', '${project}/../db'],
    ['path_matches', '${project}/../db/*'],
    ['path_under', '/Shared/longest-name/../../db'],
  ])('find a path in a text, whatever the %s %s goes up through', async (field, pattern) => {
    const rules = [deny('db', { any_arg: { [field]: [pattern] } })];
    const snapshot = await snapshotOf(rules, { paths: { ...DISK, isCaseless: false } });
    const { decision } = runOf(snapshot).call({ args: { request: 'open "/db/x" now' } }, 0);
    expect(decision).toMatchObject({ action: 'BLOCK', rule_id: 'db' });
  });

  it('share one look at the disk in a decision, and look up their own folders only once', async () => {
    const lookups: string[][] = [];
    const lookup = () => {
      const asked: string[] = [];
      lookups.push(asked);
      return (path: string) => {
        asked.push(path);
        return path;
      };
    };
    const rules = ['a', 'b', 'c'].map((id) =>
      deny(id, { any_arg: { path_under: [`/${id}`] }, args: { path_matches: { path: ['/x'] } } }),
    );
    const paths = { ...DISK, isCaseless: false, lookup };
    const snapshot = await snapshotOf(rules, { paths });
    const compiling = lookups.length;
    const call = callOf({ args: { path: '/y' } });
    explain(snapshot, { call, state: initialState(snapshot), nowMs: 0 });
    // One to decide, one to explain.
    expect(lookups).toHaveLength(compiling + 2);
    expect(new Set(lookups.slice(compiling).flat())).toEqual(new Set(['/y']));
  });

  it.each([
    ['*** Begin Patch\n*** Add File: a.ts\n+import "/etc/hosts"\n*** End Patch', null],
    ['*** Begin Patch\n*** Update File: /etc/hosts\n+x\n*** End Patch', 'outside'],
    ['*** Begin Patch\n*** Update File: a.ts\n*** Move to: ../b.ts\n*** End Patch', 'outside'],
  ])(
    'see the files of a patch that is called a command, and not its content: %j',
    async (command, rule) => {
      const rules = [deny('outside', { any_arg: { not_path_under: ['${project}'] } })];
      const snapshot = await snapshotOf(rules, { paths: { ...DISK, isCaseless: false } });
      const { decision } = runOf(snapshot).call(
        { server_name: 'codex', tool_name: 'apply_patch', args: { command } },
        0,
      );
      expect(decision.rule_id).toBe(rule);
    },
  );
});
