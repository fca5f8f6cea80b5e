// Node, the build, and variables that change how every `sub` starts.
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { broken, type Check, ok, warn } from './check.ts';

const NODE_MIN = { major: 20, minor: 19 };

export const node: Check = {
  id: 'node',
  run: async ({ versions }) => {
    const [major = 0, minor = 0] = versions.node.split('.').map(Number);
    const isNew = major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor);
    if (isNew) return ok(`Node ${versions.node}`);
    const wanted = `${NODE_MIN.major}.${NODE_MIN.minor}`;
    return broken(`Node ${versions.node} is too old`, `Install Node ${wanted} or newer.`);
  },
};

export const build: Check = {
  id: 'build',
  run: async ({ versions, launcher }) => {
    const folder = launcher === undefined ? undefined : distOf(launcher);
    const missing = ['sub.js', 'shim.js'].filter(
      (name) => folder === undefined || !existsSync(join(folder, name)),
    );
    if (missing.length === 0) return ok(`sub ${versions.sub}`);
    return broken(
      `sub ${versions.sub} is not built whole: ${missing.join(' and ')} missing`,
      'Run `npm run build` in the checkout.',
    );
  },
};

/** The launcher is linked into other folders, and stands beside what was built. */
function distOf(launcher: string): string | undefined {
  try {
    const folder = dirname(realpathSync(launcher));
    return basename(folder) === 'dist' ? folder : join(folder, '..', 'dist');
  } catch {
    return undefined;
  }
}

const TRAPS = [
  { name: 'NODE_EXTRA_CA_CERTS', effect: 'slows the start of every server' },
  { name: 'NODE_OPTIONS', effect: 'changes every Node process, the servers included' },
] as const;

export const environment: Check = {
  id: 'environment',
  run: async ({ env }) => {
    const set = TRAPS.filter(({ name }) => (env[name] ?? '') !== '');
    if (set.length === 0) return ok('no variable that slows or changes Node');
    const text = set.map(({ name, effect }) => `${name} is set: it ${effect}`).join('; ');
    return warn(text, `Unset ${set.map(({ name }) => name).join(' and ')} where agents start.`);
  },
};
