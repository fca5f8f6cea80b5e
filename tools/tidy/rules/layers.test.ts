import { describe, expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { layers } from './layers.ts';

const messages = (path: string, text: string) =>
  layers(readSource({ path, text })).map(({ message }) => message);

describe('between packages', () => {
  test.each([
    ['contracts/a.ts', '@subluminal/core/canon'],
    ['core/a.ts', '@subluminal/plane/crypto'],
    ['plane/hub/a.ts', '@subluminal/steward/agent'],
    ['steward/a.ts', '@subluminal/plane/hub'],
    ['plane/hub/a.ts', '@subluminal/cli'],
    ['web/a.ts', '@subluminal/core/policy'],
    ['core/a.test.ts', '@subluminal/plane/crypto'],
  ])('refuses packages/%s importing %s', (path, specifier) => {
    const [message] = messages(`packages/${path}`, `import { a } from '${specifier}';`);
    expect(message).toContain('may not import');
  });

  test.each([
    ['core/a.ts', '@subluminal/contracts'],
    ['plane/hub/a.ts', '@subluminal/core/policy'],
    ['steward/a.ts', '@subluminal/core/policy'],
    ['cli/a.ts', '@subluminal/steward/agent'],
    ['cli/a.ts', '@subluminal/plane/hub'],
    ['web/a.ts', '@subluminal/contracts'],
    ['core/policy/a.ts', '../canon/index.ts'],
    ['core/policy/a.test.ts', '../../../test/requirements.ts'],
  ])('lets packages/%s import %s', (path, specifier) => {
    expect(messages(`packages/${path}`, `import { a } from '${specifier}';`)).toEqual([]);
  });

  test.each(['packages/plane/services/hub/a.ts', 'packages/plane/services/hub/a.test.ts'])(
    'refuses the way around the exports in %s',
    (path) => {
      const [message] = messages(path, "import { a } from '../../../core/policy/decide.ts';");
      expect(message).toContain('by path; import @subluminal/core/');
    },
  );

  test('holds tools to the exports as well', () => {
    expect(messages('tools/a.ts', "import { a } from '../packages/core/ports.ts';")).toHaveLength(
      1,
    );
    expect(messages('tools/a.ts', "import { a } from '@subluminal/core/ports';")).toEqual([]);
  });

  test('refuses code that leaves its package, except in a test', () => {
    const text = "import { a } from '../../test/requirements.ts';";
    expect(messages('packages/core/a.ts', text)).toHaveLength(1);
    expect(messages('packages/core/a.test.ts', text)).toEqual([]);
  });
});

test('keeps what tests stand on out of the product', () => {
  const text = "import { a } from './testing/arbitrary.ts';";
  expect(messages('packages/core/a.ts', text)).toEqual([
    'only tests import ./testing/arbitrary.ts',
  ]);
  expect(messages('packages/core/a.test.ts', text)).toEqual([]);
  expect(messages('packages/core/testing/b.ts', "import { a } from 'fast-check';")).toEqual([]);
});

describe('from outside', () => {
  test.each(['node:fs', 'fs', 'fs/promises'])('keeps %s out of a pure package', (specifier) => {
    const text = `import { a } from '${specifier}';`;
    expect(messages('packages/core/a.ts', text)[0]).toContain('no I/O of its own');
    expect(messages('packages/core/a.test.ts', text)).toEqual([]);
    expect(messages('packages/plane/services/hub/a.ts', text)).toEqual([]);
  });

  test('takes from the registry only what the layout lists', () => {
    expect(messages('packages/core/a.ts', "import { parse } from 'yaml';")).toEqual([]);
    expect(messages('packages/core/a.ts', "await import('@marcbachmann/cel-js');")).toEqual([]);
    expect(messages('packages/core/a.ts', "import { z } from 'zod/v4';")[0]).toContain(
      'imports zod,',
    );
    expect(messages('packages/contracts/a.ts', "import { parse } from 'yaml';")).toHaveLength(1);
    expect(messages('packages/core/a.test.ts', "import { test } from 'vitest';")).toEqual([]);
  });

  test('keeps computed imports out of a pure package', () => {
    expect(messages('packages/core/a.ts', 'await import(name);')).toHaveLength(1);
    expect(messages('packages/cli/a.ts', 'await import(name);')).toEqual([]);
  });
});
