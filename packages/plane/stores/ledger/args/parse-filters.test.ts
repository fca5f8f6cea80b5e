import { expect, onTestFinished, test, vi } from 'vitest';
import { pathFilter } from './parse-filters.ts';

test.each(['/made-up/home', '/made-up/$&'])('`~` in a path is the home %s as it is', (home) => {
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(pathFilter('~/notes', '/')).toEqual({ paths: [`${home}/notes`], home, folder: '/' });
  expect(pathFilter('~notes', '/made-up').paths).toEqual(['/made-up/~notes']);
});
