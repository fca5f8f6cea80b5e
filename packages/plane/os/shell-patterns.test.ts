import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PatternMatches } from './shell-patterns.ts';

let dir: string;

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'shell-patterns-')));
  for (const name of ['a', 'b', 'c']) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, '.env'), '');
    writeFileSync(join(dir, name, 'key.pem'), '');
  }
});

afterAll(() => rmSync(dir, { recursive: true }));

describe('what a pattern stands for', () => {
  it.each([
    ['a/.*', ['a/.env']],
    ['a/*.p*', ['a/key.pem']],
    ['[ab]/.e*', ['a/.env', 'b/.env']],
    ['a/*', ['a/key.pem']],
    ['a/x*', []],
  ])('%s is %j', (pattern, names) => {
    const paths = names.map((name) => join(dir, name));
    expect(new PatternMatches().of(join(dir, pattern))).toEqual({ paths, isWhole: true });
  });

  it('is not whole when a folder was not read, until another pattern needs none of those', () => {
    const matches = new PatternMatches({ foldersMax: 2, matchesMax: 9 });
    expect(matches.of(join(dir, '*/.e*'))).toEqual({
      paths: [join(dir, 'a/.env')],
      isWhole: false,
    });
    expect(matches.of(join(dir, 'a/k*'))).toMatchObject({ isWhole: true });
  });

  it('is not whole when there are more paths than the limit', () => {
    const matches = new PatternMatches({ foldersMax: 9, matchesMax: 2 });
    expect(matches.of(join(dir, '*/.env')).isWhole).toBe(false);
    expect(matches.of(join(dir, '[ab]/.env')).isWhole).toBe(true);
  });
});
