import { describe, expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { traces } from './traces.ts';

// Assembled, so that this file has no findings of its own.
const lines = (parts: readonly string[], path = 'docs/a.md') =>
  traces(readSource({ path, text: `first\n${parts.join('')}\n` })).map(({ line }) => line);

describe('addresses and hosts', () => {
  test.each([
    [['http://10', '.1.2.3:8080/']],
    [['172', '.20.0.5']],
    [['"192', '.168.1.7"']],
    [['https://registry', '.npmjs.org/yaml']],
    [['registry', '.yarnpkg.com']],
  ])('refuses %j', (parts) => {
    expect(lines(parts)).toEqual([2]);
  });

  test.each([
    [['127.0.0.1']],
    [['10', '.0.0.0/8 and 192', '.168.0.0/16']],
    [['172', '.32.0.1']],
    [['version 10', '.1.2.3-beta']],
    [['1.10', '.1.2.3']],
    [['the registry of npm']],
  ])('lets %j pass', (parts) => {
    expect(lines(parts)).toEqual([]);
  });
});

describe('paths of one machine', () => {
  test.each([
    [['/wo', 'rk/main/a.ts']],
    [['"/ro', 'ot/.npmrc"']],
    [['file:/ho', 'me/ada/a']],
    [['/Us', 'ers/ada/a']],
  ])('refuses %j', (parts) => {
    expect(lines(parts, 'packages/core/a.ts')).toEqual([2]);
  });

  test.each([
    [['./wo', 'rk/a.ts']],
    [['https://example.org/wo', 'rk/a']],
    [['$HOME/a and ~/a']],
    [['/ho', 'me/$USER/']],
    [['/ho', 'me/node/app']],
  ])('lets %j pass', (parts) => {
    expect(lines(parts, 'packages/core/a.ts')).toEqual([]);
  });

  test('are what a test may feed to the product', () => {
    expect(lines(['/ho', 'me/ada/a'], 'packages/core/a.test.ts')).toEqual([]);
    expect(lines(['10', '.1.2.3'], 'packages/core/a.test.ts')).toEqual([]);
  });
});

describe('unfinished work', () => {
  test.each([[['// TO', 'DO later']], [['FIX', 'ME']], [['T', 'BD']]])('refuses %j', (parts) => {
    expect(lines(parts)).toEqual([2]);
    expect(lines(parts, 'packages/core/a.test.ts')).toEqual([2]);
  });

  test.each([[['a todo list']], [['mktemp -d XX', 'XXXX']], [['Hackers']]])(
    'lets %j pass',
    (parts) => {
      expect(lines(parts)).toEqual([]);
    },
  );

  test('is refused in comments only, where the word has other uses', () => {
    expect(lines(['// a st', 'ub of the real thing'], 'packages/core/a.ts')).toEqual([2]);
    expect(lines(['const st', 'ub = "place', 'holder";'], 'packages/core/a.ts')).toEqual([]);
  });
});
