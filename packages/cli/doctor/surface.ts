// What decides about the tools of servers: the manifests, and the pins.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/policy';
import { openPins } from '@subluminal/plane/surface';
import { checkFile } from '../surface/check-file.ts';
import { SILENT } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import { broken, type Check, ok, warn } from './check.ts';
import { codeOf } from './words.ts';

const FILES_MAX = 1_000;

export const manifests: Check = {
  id: 'manifests',
  run: async ({ loaded, paths }) => {
    if (!loaded.ok) {
      const fix = 'Correct the configuration first.';
      return warn('the configuration cannot be read, so nobody knows where they are', fix);
    }
    const { 'surface.manifests': folder, profile } = loaded.config;
    const names = namesIn(folder);
    if (names.length === 0) return ok(`none in ${folder}`);
    const home = { kind: 'home', paths, folder, profile } as const;
    const wrong: string[] = [];
    for (const name of names) {
      const checked = await checkFile(join(folder, name), home, SILENT);
      if (isFailure(checked)) wrong.push(`${checked.message} [${checked.code}]`);
      else wrong.push(...checked.problems.map(formatProblem));
    }
    if (wrong.length === 0) return ok(`${plural(names.length, 'manifest')} in ${folder}`);
    const fix = 'See `sub manifest check`; in production, these servers do not start.';
    return { ...broken(`${plural(wrong.length, 'problem')} in ${folder}`, fix), more: wrong };
  },
};

function namesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name));
    return names.toSorted().slice(0, FILES_MAX);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return [];
    throw cause;
  }
}

export const pins: Check = {
  id: 'pins',
  run: async ({ loaded, paths }) => {
    const opened = openPins(paths.home);
    if (!opened.ok) return broken(`${opened.message} [${opened.code}]`, opened.fix);
    const servers = [...opened.store.servers.values()];
    const count = servers.reduce((sum, { tools }) => sum + tools.size, 0);
    const text = `${plural(count, 'tool')} of ${plural(servers.length, 'server')}`;
    if (!loaded.ok || loaded.config['pins.mode'] !== 'off') return ok(text);
    return warn(`${text}, but nothing is held against them`, 'Set `pins.mode` to `on`.');
  },
};
