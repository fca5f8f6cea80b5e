// A machine to look at, for tests only: its own home in a folder of the test.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { homePaths, loadConfig } from '@subluminal/plane/config';
import type { Machine } from './check.ts';

type Env = Machine['env'];

export async function machineIn(folder: string, env: Env = {}): Promise<Machine> {
  const whole = { SUB_HOME: join(folder, 'home'), HOME: join(folder, 'user'), ...env };
  const cwd = join(folder, 'user', 'project');
  return {
    env: whole,
    cwd,
    userHome: whole.HOME,
    paths: homePaths(whole),
    loaded: await loadConfig({ env: whole, cwd }),
    nowMs: Date.now(),
    versions: { node: '20.19.0', sub: '0.1.0' },
    launcher: undefined,
  };
}

/** Writes a file that is the owner's alone, with the folders above it. */
export function put(path: string, text: string, mode = 0o600): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode });
  return path;
}
