import { describe, expect, test } from 'vitest';
import { nameVariants } from './name-variants.ts';

const PLACE = { userHome: '/home/me', env: {}, isMentioned: () => false };

describe('a name that every reader takes for the same', () => {
  test.each(['src/main.ts', '/srv/project/src/main-2.ts', 'README', '/etc'])('%s', (name) => {
    expect(nameVariants(name, PLACE)).toEqual([name]);
  });

  test('is looked at closely where it mentions something protected', () => {
    const mentioned = { ...PLACE, isMentioned: (text: string) => text.includes('policy') };
    expect(nameVariants('/tmp/wpolicy.yaml', mentioned)).toContain('policy.yaml');
  });
});

describe('a name that a reader may take for another one', () => {
  test.each([
    ['/proc/self/cwd/policy.yaml', './policy.yaml'],
    ['/proc/self/root/etc/passwd', '/etc/passwd'],
    ['/dev/fd/3/policy.yaml', './policy.yaml'],
    ['/srv/a%2fb', '/srv/a/b'],
    ['/srv/a/../b', '/srv/b'],
    ['~/notes', '/home/me/notes'],
    ['/srv/notes.', '/srv/notes'],
  ])('%s may be %s', (name, other) => {
    expect(nameVariants(name, PLACE)).toContain(other);
  });
});
