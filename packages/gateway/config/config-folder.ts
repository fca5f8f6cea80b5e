// The folder of a gateway's configuration: which files there are, and the hash of all of them.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { nearest } from '@subluminal/core/policy';
import { PROBLEMS_MAX, type Problem } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { fileProblem, readRegularFile, systemCode } from '@subluminal/plane/os';
import { atStart } from './config-file.ts';

/** Every file that is read, by what it is for. */
export const CONFIG_FILES = {
  gateway: 'gateway.yaml',
  pools: 'pools.yaml',
  policy: 'policies/main.yaml',
  budgets: 'budgets.yaml',
  pricing: 'pricing.yaml',
  webhooks: 'webhooks.yaml',
  users: 'identity/users.yaml',
  teams: 'identity/teams.yaml',
  repos: 'identity/repos.yaml',
} as const;
export type ConfigFileKey = keyof typeof CONFIG_FILES;

const FILE_BYTES_MAX = 1_048_576;
const FOLDERS = ['', 'policies', 'identity'] as const;
const REQUIRED: ReadonlySet<string> = new Set([CONFIG_FILES.pools, CONFIG_FILES.policy]);

export interface ConfigFolder {
  readonly kind: 'folder';
  readonly version: string;
  readonly bytes: (key: ConfigFileKey) => Uint8Array | undefined;
  /** Files that are missing, not readable, not read, or open to others. */
  readonly problems: readonly Problem[];
  /** Names of files that could not be read: what they hold is not known. */
  readonly unread: ReadonlySet<string>;
}

/** Reads all files at once, so that what is checked is what was hashed. */
export function readConfigFolder(dir: string, onUnsafe: Problem['level']): ConfigFolder | Failure {
  const listed = listFolder(dir);
  if (typeof listed === 'string') {
    const fix = 'Name the folder that holds pools.yaml; `sub gateway init DIR` writes an example.';
    return failure('SUB_FILE_READ', `The folder ${dir} cannot be read (${listed}).`, fix);
  }
  const hash = createHash('sha256');
  const contents = new Map<string, Uint8Array>();
  const unread = new Set<string>();
  const problems: Problem[] = [];
  for (const name of Object.values(CONFIG_FILES)) {
    const path = join(dir, name);
    const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
    if (read.kind === 'missing') {
      if (REQUIRED.has(name)) problems.push(missing(name));
      continue;
    }
    if (read.kind === 'unreadable') {
      const message = `the file ${read.why}`;
      problems.push(atStart({ code: 'SUB_GATEWAY_FILE', path: [], message, fix: read.fix }, name));
      unread.add(name);
      continue;
    }
    const open = fileProblem(path);
    if (open !== undefined) {
      const message = `${open.path} ${open.why}`;
      const finding = { level: onUnsafe, code: 'SUB_FILE_UNSAFE', path: [], message } as const;
      problems.push(atStart({ ...finding, fix: open.fix }, name));
    }
    contents.set(name, read.bytes);
    hash.update(`${name}\0${read.bytes.length}\0`).update(read.bytes);
  }
  return {
    kind: 'folder',
    version: hash.digest('hex'),
    bytes: (key) => contents.get(CONFIG_FILES[key]),
    problems: [...problems, ...strayFiles(listed)],
    unread,
  };
}

/** Names below the folder, or the code of the error. */
function listFolder(dir: string): readonly string[] | string {
  const found: string[] = [];
  for (const folder of FOLDERS) {
    try {
      const names = readdirSync(join(dir, folder)).toSorted();
      found.push(...names.map((name) => (folder === '' ? name : `${folder}/${name}`)));
    } catch (cause) {
      if (folder === '') return systemCode(cause);
    }
  }
  return found;
}

function missing(name: string): Problem {
  const message = 'the file is missing';
  const fix = 'Write it, or start from the example of `sub gateway init`.';
  return atStart({ code: 'SUB_GATEWAY_FILE', path: [], message, fix }, name);
}

/** A YAML file that nobody reads is likely a misspelt one. */
function strayFiles(listed: readonly string[]): readonly Problem[] {
  const known: readonly string[] = Object.values(CONFIG_FILES);
  const stray = listed.filter((name) => /\.ya?ml$/i.test(name) && !known.includes(name));
  return stray.slice(0, PROBLEMS_MAX).map((name) => {
    const free = known.filter((one) => !listed.includes(one));
    const meant = nearest(name, free) ?? nearest(name.replace(/\.yml$/, '.yaml'), free);
    const about = meant === undefined ? '' : `; did you mean ${quote(meant)}?`;
    const fix = meant === undefined ? 'Remove it, or move it elsewhere.' : 'Rename it.';
    const message = `nothing reads this file${about}`;
    const level = 'warning' as const;
    return atStart({ level, code: 'SUB_GATEWAY_FILE', path: [], message, fix }, name);
  });
}
