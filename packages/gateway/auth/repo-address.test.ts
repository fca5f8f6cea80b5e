import { expect, it } from 'vitest';
import { repoAddress } from './repo-address.ts';

it.each([
  'git@github.com:Org/Repo.git',
  'https://github.com/org/repo',
  'https://github.com/org/repo.git',
  'https://github.com/org//repo/',
  'https://user:secret@github.com/ORG/repo.git',
  'ssh://git@github.com:22/org/repo.git',
  'https://github.com:443/org/%72epo',
  'github.com:org/repo',
])('%s is one repository', (remote) => {
  expect(repoAddress(remote)).toBe('github.com/org/repo');
});

it.each([
  '',
  'repo',
  '/srv/git/repo',
  'file:///srv/git/repo',
  'https://github.com/',
  'git@github.com:../other',
  'https://github.com/org/re%00po',
  'https://github.com/org/re%zzpo',
  `https://github.com/${'a'.repeat(2_000)}`,
])('%j is none', (remote) => {
  expect(repoAddress(remote)).toBeUndefined();
});
