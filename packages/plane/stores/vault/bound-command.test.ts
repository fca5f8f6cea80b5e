import { expect, test } from 'vitest';
import { fitsCommand, hiddenWord } from './bound-command.ts';

const npx = ['npx', '-y', '@scope/server'];
// As clients write it, not as the language reads it.
const [HOME, DIR] = ['HOME', 'workspaceFolder'].map((name) => `\${${name}}`) as [string, string];

test.each([
  [npx, npx],
  [
    ['run', `${HOME}/a`],
    ['run', '/home/me/a'],
  ],
  [[`${DIR}/x/${HOME}.js`], ['/p/x/me.js']],
  [[`a${HOME}b${HOME}c`], ['abbc']],
  [[HOME], ['']],
  [
    ['run', hiddenWord('s3cret')],
    ['run', 's3cret'],
  ],
])('%j is %j', (bound, words) => {
  expect(fitsCommand(bound, words)).toBe(true);
});

test.each([
  [npx, ['./evil.sh']],
  [npx, [...npx, '--more']],
  [npx, npx.slice(0, 2)],
  [[], ['x']],
  [
    ['run', `${HOME}/a`],
    ['run', '/home/me/b'],
  ],
  [
    ['run', `x${HOME}`],
    ['run', 'y'],
  ],
  [[`ab${HOME}b`], ['ab']],
  [[`a${HOME}b${HOME}c`], ['acb']],
  [
    ['run', hiddenWord('s3cret')],
    ['run', 'other'],
  ],
  [
    ['run', 's3cret'],
    ['run', hiddenWord('s3cret')],
  ],
])('%j is not %j', (bound, words) => {
  expect(fitsCommand(bound, words)).toBe(false);
});
