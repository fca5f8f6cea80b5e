// Which version of a client a command starts, without starting it where that can be known.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { findProgram, readRegularFile, realFile } from '../../../os/index.ts';
import { endOfProgram } from './hooked-line.ts';

const BYTES_MAX = 1_048_576;
const DEPTH_MAX = 6;
const ASKING_MS = 10_000;
const VERSION = /\b(\d{1,6}\.\d{1,6}\.\d{1,6})\b/;

interface StartedProgram {
  /** The version of any other package says nothing. */
  readonly packageName: string;
  /** False: nothing is started to find out. */
  readonly mayAsk?: boolean;
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

/** Undefined where neither the files nor the program itself tell. */
export function versionOf({
  command,
  packageName,
  env,
  cwd,
  mayAsk = true,
}: StartedProgram): string | undefined {
  const [program = ''] = command;
  // A runner of packages may start any version, unless one is named.
  if (endOfProgram(command) > 1) return VERSION.exec(command[endOfProgram(command) - 1] ?? '')?.[1];
  const found = findProgram(program, { cwd, path: env['PATH'] });
  const file = found === undefined ? undefined : realFile(found);
  if (file === undefined) return undefined;
  return packageVersion(file, packageName) ?? (mayAsk ? asked(file, { env, cwd }) : undefined);
}

/** The package that a program is of, where it was installed from npm. */
function packageVersion(file: string, packageName: string): string | undefined {
  let folder = dirname(file);
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const read = readRegularFile(join(folder, 'package.json'), { bytesMax: BYTES_MAX });
    if (read.kind === 'read') {
      const { name, version } = manifestIn(read.bytes.toString('utf8'));
      // The program of a platform has a package of its own, behind a dash.
      const isOurs = name === packageName || String(name).startsWith(`${packageName}-`);
      if (isOurs && typeof version === 'string') return VERSION.exec(version)?.[1];
    }
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return undefined;
}

function manifestIn(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function asked(
  file: string,
  { env, cwd }: Pick<StartedProgram, 'env' | 'cwd'>,
): string | undefined {
  const options = { env, cwd, timeout: ASKING_MS, maxBuffer: BYTES_MAX, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(file, ['--version'], { ...options, stdio: 'pipe' });
  return status === 0 ? VERSION.exec(stdout)?.[1] : undefined;
}

/** Whether a version is that one or a later one. */
export function isSince(version: string, first: string): boolean {
  const [own, other] = [version, first].map((one) => one.split('.').map(Number));
  for (const [at, part] of (other ?? []).entries()) {
    const difference = (own?.[at] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
