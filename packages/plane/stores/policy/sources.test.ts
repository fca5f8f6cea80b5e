import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { policySources, sourceWarnings } from './sources.ts';
import { isTrusted, openTrust, revokeTrust, trustPolicy } from './trust-store.ts';

const NOW_MS = Date.parse('2026-01-31T12:00:00Z');

let dir: string;
let home: string;
let repo: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'sub-trust-')));
  home = join(dir, '.subluminal');
  repo = join(dir, 'repo');
  mkdirSync(join(repo, '.git'), { recursive: true });
  mkdirSync(home, { mode: 0o700 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text: string): string {
  writeFileSync(path, text);
  return path;
}
const user = () => write(join(home, 'policy.yaml'), 'user');
const project = (text = 'project') => write(join(repo, 'policy.yaml'), text);

function sources(parts: Partial<Parameters<typeof policySources>[0]> = {}) {
  const found = policySources({
    cwd: repo,
    home,
    userHome: dir,
    named: null,
    trusts: false,
    ...parts,
  });
  return {
    roles: found.sources.map(({ path, role }) => [path, role]),
    warnings: sourceWarnings(found),
  };
}

describe('the policies in force', () => {
  test('are none where there is none', () => {
    expect(sources()).toEqual({ roles: [], warnings: [] });
  });

  test('are that of the user alone where the project has none', () => {
    expect(sources().roles).toEqual([]);
    expect(sources({ cwd: dir }).roles).toEqual([]);
    const own = user();
    expect(sources()).toEqual({ roles: [[own, 'user']], warnings: [] });
  });

  test('are that of an untrusted project alone where the user has none', () => {
    const theirs = project();
    expect(sources()).toEqual({ roles: [[theirs, 'untrusted']], warnings: [] });
  });

  test('are both where the project is not trusted, and that is said with the way out', () => {
    const [own, theirs] = [user(), project()];
    const { roles, warnings } = sources();
    expect(roles).toEqual([
      [own, 'user'],
      [theirs, 'untrusted'],
    ]);
    expect(warnings).toEqual([
      `${theirs} is not trusted, so it only tightens ${own}. To trust it: sub trust ${theirs}`,
    ]);
  });

  test('are that of a trusted project alone, until it changes', async () => {
    user();
    const theirs = project();
    await trustPolicy(home, { path: theirs, sha256: sha256('project') }, NOW_MS);
    expect(sources()).toEqual({ roles: [[theirs, 'trusted']], warnings: [] });
    project('changed');
    expect(sources().roles).toMatchObject([{}, [theirs, 'untrusted']]);
  });

  test('are that of the project alone where it is trusted for this once', () => {
    user();
    const theirs = project();
    expect(sources({ trusts: true }).roles).toEqual([[theirs, 'trusted']]);
    expect(openTrust(home)).toEqual([]);
  });

  test('are the one that is named, and nothing else', () => {
    user();
    const theirs = project();
    expect(sources({ named: theirs }).roles).toEqual([[theirs, 'named']]);
  });

  test('are in a nested run what they were in the outer one', () => {
    const [own, theirs] = [user(), project()];
    expect(sources({ named: own, toldProject: theirs }).roles).toEqual([
      [own, 'user'],
      [theirs, 'untrusted'],
    ]);
    expect(sources({ named: theirs, toldProject: theirs }).roles).toEqual([[theirs, 'untrusted']]);
  });

  test('leave out what lies outside of the home of the user, and that is said', () => {
    project();
    const { roles, warnings } = sources({ userHome: home });
    expect(roles).toEqual([]);
    expect(warnings).toEqual([
      `${join(repo, 'policy.yaml')} is not used: ${repo} is outside of ${home}. To use it, add: --policy ${join(repo, 'policy.yaml')}`,
    ]);
  });

  test('leave out what others can write to, and the command that helps is said', () => {
    const path = project();
    chmodSync(repo, 0o777);
    expect(sources().warnings).toEqual([
      `${path} is not used: ${repo} can be written to by others. To use it, run: chmod go-w ${repo}`,
    ]);
    expect(sources({ userHome: home }).warnings).toEqual([
      `${path} is not used: ${repo} is outside of ${home}. To use it, run: chmod go-w ${repo}, then add: --policy ${path}`,
    ]);
    chmodSync(repo, 0o1777);
    expect(sources().warnings).toEqual([
      `${path} is not used: ${repo} can be written to by others. To use it, add: --policy ${path}`,
    ]);
  });
});

describe('what is trusted', () => {
  test('is kept for its owner alone, once for each path', async () => {
    const path = project();
    const hash = sha256('project');
    expect(await trustPolicy(home, { path, sha256: sha256('older') }, NOW_MS)).toBe(true);
    await trustPolicy(home, { path, sha256: hash }, NOW_MS);
    const trusted_at = new Date(NOW_MS).toISOString();
    expect(openTrust(home)).toEqual([{ path, sha256: hash, trusted_at }]);
    expect(statSync(join(home, 'trust.json')).mode & 0o777).toBe(0o600);
    expect(isTrusted(home, path, hash)).toBe(true);
    expect(isTrusted(home, path, sha256('older'))).toBe(false);
    expect(isTrusted(home, join(dir, 'other', 'policy.yaml'), hash)).toBe(false);
  });

  test('is not trusted any more once it is revoked', async () => {
    const path = project();
    await trustPolicy(home, { path, sha256: sha256('project') }, NOW_MS);
    expect(await revokeTrust(home, path)).toBe(true);
    expect(await revokeTrust(home, path)).toBe(false);
    expect(isTrusted(home, path, sha256('project'))).toBe(false);
  });

  test('can be revoked after the file is gone', async () => {
    const path = project();
    await trustPolicy(home, { path, sha256: sha256('project') }, NOW_MS);
    rmSync(repo, { recursive: true });
    expect(await revokeTrust(home, path)).toBe(true);
  });

  test('is nothing where others may have written it', async () => {
    const path = project();
    await trustPolicy(home, { path, sha256: sha256('project') }, NOW_MS);
    chmodSync(join(home, 'trust.json'), 0o666);
    expect(isTrusted(home, path, sha256('project'))).toBe(false);
    expect(await trustPolicy(home, { path, sha256: sha256('x') }, NOW_MS)).toMatchObject({
      kind: 'failure',
    });
  });

  test.each(['', '{', '[]', '{"version":2,"trusted":[]}', '{"version":1,"trusted":[{"path":1}]}'])(
    'is nothing where the file says %j',
    (text) => {
      write(join(home, 'trust.json'), text);
      chmodSync(join(home, 'trust.json'), 0o600);
      expect(openTrust(home)).toMatchObject({ kind: 'failure' });
    },
  );

  test('is nothing in a file that nobody with the key of the home has signed', async () => {
    const path = project();
    const hash = sha256('project');
    const trusted = [{ path, sha256: hash, trusted_at: new Date(NOW_MS).toISOString() }];
    const file = join(home, 'trust.json');
    const put = (value: object) => {
      write(file, JSON.stringify({ version: 1, ...value }));
      chmodSync(file, 0o600);
    };
    put({ trusted });
    expect(isTrusted(home, path, hash)).toBe(false);
    expect(openTrust(home)).toMatchObject({ kind: 'failure', message: `${file} is not signed.` });
    rmSync(file);
    await trustPolicy(home, { path: join(dir, 'other.yaml'), sha256: hash }, NOW_MS);
    const { signature } = JSON.parse(readFileSync(file, 'utf8')) as { signature: object };
    put({ trusted, signature });
    expect(isTrusted(home, path, hash)).toBe(false);
    expect(openTrust(home)).toMatchObject({
      kind: 'failure',
      message: expect.stringContaining('has a signature that does not hold') as unknown,
    });
    expect(await trustPolicy(home, { path, sha256: hash }, NOW_MS)).toMatchObject({
      kind: 'failure',
      fix: expect.stringContaining(`Remove ${file}`) as unknown,
    });
  });

  test('is nothing once the key is gone', async () => {
    const path = project();
    await trustPolicy(home, { path, sha256: sha256('project') }, NOW_MS);
    rmSync(join(home, 'ledger.key'));
    expect(isTrusted(home, path, sha256('project'))).toBe(false);
    expect(openTrust(home)).toMatchObject({
      kind: 'failure',
      message: expect.stringMatching(/cannot be checked: .*ledger\.key is missing\.$/) as unknown,
    });
  });

  test('is complete when several processes add to it at once', async () => {
    const paths = Array.from({ length: 8 }, (_, index) => join(dir, `policy-${index}.yaml`));
    await Promise.all(
      paths.map((path) => trustPolicy(home, { path, sha256: sha256(path) }, NOW_MS)),
    );
    expect(paths.every((path) => isTrusted(home, path, sha256(path)))).toBe(true);
  });
});
