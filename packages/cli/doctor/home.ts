// The product's folder: whose it is, who may look into it, and whether there is room.
import { constants, lstatSync, type Stats } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { broken, type Check, type Finding, ledgerPlaces, type Machine, ok, warn } from './check.ts';
import { codeOf, sizeText } from './words.ts';

export const home: Check = {
  id: 'home',
  run: async ({ paths }) => {
    const stats = statsOf(paths.home);
    if (stats === undefined) {
      const text = `${paths.home} is not there yet; it is made when needed`;
      return (await unwritable(existing(dirname(paths.home)))) ?? ok(text);
    }
    const unsafe = unsafeFolder(paths.home, stats) ?? (await unwritable(paths.home));
    if (unsafe !== undefined) return unsafe;
    return isOpen(stats)
      ? warn(`${paths.home} can be looked into by others`, `Run: chmod 700 ${paths.home}`)
      : ok(paths.home);
  },
};

/** Whether something can be made in a folder that is there. */
async function unwritable(folder: string): Promise<Finding | undefined> {
  const fix = 'Give yourself the right to write there, or set SUB_HOME to another folder.';
  try {
    if (!(await stat(folder)).isDirectory()) return broken(`${folder} is not a folder`, fix);
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return broken(`${folder} cannot be written to (${codeOf(cause)})`, fix);
  }
}

/** What every command refuses: others could put their own policy there. */
function unsafeFolder(path: string, stats: Stats): Finding | undefined {
  const ownId = process.getuid?.();
  if (!stats.isDirectory()) {
    return broken(`${path} is not a folder`, 'Remove it, or set SUB_HOME to another folder.');
  }
  if (ownId === undefined) return undefined;
  if (stats.uid !== ownId) {
    return broken(`${path} belongs to another user`, 'Set SUB_HOME to a folder of your own.');
  }
  return (stats.mode & 0o022) === 0
    ? undefined
    : broken(`${path} can be written to by others`, `Run: chmod 700 ${path}`);
}

/** On Windows the mode says nothing. */
function isOpen({ mode }: Stats): boolean {
  return process.getuid !== undefined && (mode & 0o077) !== 0;
}

const VAULT_KEY = 'vault.key';

export const files: Check = {
  id: 'files',
  run: async (machine) => {
    const there = privatePaths(machine).flatMap((path) => {
      const stats = statsOf(path);
      return stats === undefined ? [] : [{ path, stats }];
    });
    const open = there.filter(({ stats }) => isOpen(stats));
    if (open.length === 0) return ok(`${there.length} private files and folders are yours alone`);
    const text = `${open.map(({ path }) => path).join(', ')}: others have rights there`;
    const fix = `Run: chmod go= ${open.map(({ path }) => path).join(' ')}`;
    // Who can read these can sign a forged ledger, or read all secrets: nothing works with them.
    const { ledgerKey, home: folder } = machine.paths;
    const grave = new Set([ledgerKey, join(folder, VAULT_KEY)]);
    const isGrave = open.some(({ path }) => grave.has(path));
    return isGrave ? broken(text, fix) : warn(text, fix);
  },
};

function privatePaths(machine: Machine): readonly string[] {
  const { paths } = machine;
  const { file, socket } = ledgerPlaces(machine);
  const own = ['vault.db', VAULT_KEY, 'pins.json'].map((name) => join(paths.home, name));
  const ledger = [file, `${file}-wal`, `${file.replace(/\.db$/, '')}.head`];
  return [...ledger, paths.ledgerKey, ...own, paths.spool, paths.run, paths.backups, socket];
}

const FREE_LOW_BYTES = 1_073_741_824;
const FREE_MIN_BYTES = 67_108_864;

export const disk: Check = {
  id: 'disk',
  run: async (machine) => {
    const folder = existing(dirname(ledgerPlaces(machine).file));
    const { bavail, bsize } = await statfs(folder);
    const freeBytes = bavail * bsize;
    const text = `${sizeText(freeBytes)} free for the ledger`;
    const fix = 'Free some space, or remove old runs with `sub ledger prune`.';
    if (freeBytes < FREE_MIN_BYTES) return broken(`only ${text}`, fix);
    return freeBytes < FREE_LOW_BYTES ? warn(`only ${text}`, fix) : ok(text);
  },
};

const LEVELS_MAX = 64;

/** The nearest folder that is there. */
function existing(folder: string): string {
  let at = folder;
  for (let levels = 0; levels < LEVELS_MAX && dirname(at) !== at; levels++) {
    if (statsOf(at) !== undefined) return at;
    at = dirname(at);
  }
  return at;
}

/** Undefined when there is nothing, also where a file stands in the place of a folder. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    if (codeOf(cause) === 'ENOTDIR') return undefined;
    throw cause;
  }
}
