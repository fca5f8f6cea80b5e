// Checks of Node, the build, the home folder, the disk, and files that processes left behind.
import { constants, existsSync, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '@subluminal/core/visible';
import { runsOnFile } from '@subluminal/plane/identity';
import { ownerProblem } from '@subluminal/plane/os';
import { ageText, plural, sizeText } from '../terminal/text.ts';
import { broken, codeOf, type Finding, ledgerPlaces, type Machine, ok, warn } from './check.ts';

const NODE_MIN = { major: 20, minor: 19 };

export async function checkNode({ versions }: Machine): Promise<Finding> {
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  const isNew = major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor);
  if (isNew) return ok(`Node ${versions.node}`);
  const wanted = `${NODE_MIN.major}.${NODE_MIN.minor}`;
  return broken(`Node ${versions.node} is too old`, `Install Node ${wanted} or newer.`);
}

export async function checkBuild({ versions, launcher }: Machine): Promise<Finding> {
  const folder = launcher === undefined ? undefined : distOf(launcher);
  const missing = ['sub.js', 'shim.js', 'hook.js'].filter(
    (name) => folder === undefined || !existsSync(join(folder, name)),
  );
  if (missing.length === 0) return ok(`sub ${versions.sub}`);
  return broken(
    `sub ${versions.sub} is not built whole: ${missing.join(', ')} missing`,
    'Run `npm run build` in the checkout.',
  );
}

/** The launcher may be a link in another folder; its target stands beside the build. */
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

export async function checkEnvironment({ env }: Machine): Promise<Finding> {
  const set = TRAPS.filter(({ name }) => (env[name] ?? '') !== '');
  if (set.length === 0) return ok('no variable that slows or changes Node');
  const text = set.map(({ name, effect }) => `${name} is set: it ${effect}`).join('; ');
  return warn(text, `Unset ${set.map(({ name }) => name).join(' and ')} where agents start.`);
}

export async function checkHome({ paths }: Machine): Promise<Finding> {
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
}

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
  if (!stats.isDirectory()) {
    return broken(`${path} is not a folder`, 'Remove it, or set SUB_HOME to another folder.');
  }
  const problem = ownerProblem(stats);
  if (problem === undefined) return undefined;
  const isOwn = stats.uid === process.getuid?.();
  const fix = isOwn ? `Run: chmod 700 ${path}` : 'Set SUB_HOME to a folder of your own.';
  return broken(`${path} ${problem}`, fix);
}

/** On Windows the mode says nothing. */
function isOpen({ mode }: Stats): boolean {
  return process.getuid !== undefined && (mode & 0o077) !== 0;
}

const VAULT_KEY = 'vault.key';

export async function checkFiles(machine: Machine): Promise<Finding> {
  const there = privatePaths(machine).flatMap((path) => {
    const stats = statsOf(path);
    return stats === undefined ? [] : [{ path, stats }];
  });
  const open = there.filter(({ stats }) => isOpen(stats));
  if (open.length === 0) return ok(`${there.length} private files and folders are yours alone`);
  const text = `${open.map(({ path }) => path).join(', ')}: others have rights there`;
  const fix = `Run: chmod go= ${open.map(({ path }) => shellWord(path)).join(' ')}`;
  // Who can read these can sign a forged ledger, or read all secrets: nothing works with them.
  const { ledgerKey, home: folder } = machine.paths;
  const grave = new Set([ledgerKey, join(folder, VAULT_KEY)]);
  const isGrave = open.some(({ path }) => grave.has(path));
  return isGrave ? broken(text, fix) : warn(text, fix);
}

function privatePaths(machine: Machine): readonly string[] {
  const { paths } = machine;
  const { file, socket } = ledgerPlaces(machine);
  const own = ['vault.db', VAULT_KEY, 'pins.json', 'page.json'].map((name) =>
    join(paths.home, name),
  );
  const ledger = [file, `${file}-wal`, `${file.replace(/\.db$/, '')}.head`];
  return [...ledger, paths.ledgerKey, ...own, paths.spool, paths.run, paths.backups, socket];
}

const FREE_LOW_BYTES = 1_073_741_824;
const FREE_MIN_BYTES = 67_108_864;

export async function checkDisk(machine: Machine): Promise<Finding> {
  const folder = existing(dirname(ledgerPlaces(machine).file));
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const text = `${sizeText(freeBytes)} free for the ledger`;
  const fix = 'Free some space, or remove old runs with `sub ledger prune`.';
  if (freeBytes < FREE_MIN_BYTES) return broken(`only ${text}`, fix);
  return freeBytes < FREE_LOW_BYTES ? warn(`only ${text}`, fix) : ok(text);
}

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

interface LeftFile {
  readonly name: string;
  readonly bytes: number;
  readonly ageMs: number;
}

const SPOOLED = /\.jsonl(?:\.\d{1,9}\.part)?$/;
const WAITS_MAX_MS = 3_600_000;

export async function checkSpool({ paths, nowMs }: Machine): Promise<Finding> {
  return looked(paths.spool, nowMs, (found) => {
    const waiting = found.filter(({ name }) => SPOOLED.test(name));
    if (waiting.length === 0) return ok('nothing waits for the ledger');
    const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0);
    const oldestMs = Math.max(...waiting.map(({ ageMs }) => ageMs));
    const text = `${plural(waiting.length, 'file')} (${sizeText(bytes)}) for the ledger, the oldest ${ageText(oldestMs)} old`;
    if (oldestMs < WAITS_MAX_MS) return ok(text);
    return warn(text, `Run: sub ingest ${paths.spool}`);
  });
}

/** Of an agent that is gone, or of a run that has ended. */
const RUN_FILE = /^(?:agent-(\d{1,10})-.+\.json|hub-.+\.sock|ledgerd\.starting)$/;
const STALE_MS = 86_400_000;

export async function checkRunFiles({ paths, nowMs }: Machine): Promise<Finding> {
  return looked(paths.run, nowMs, (found) => {
    const ours = found.filter(({ name }) => RUN_FILE.test(name));
    // A young file may be in use; the next run removes it when it is not.
    const stale = ours.filter(({ name, ageMs }) => ageMs > STALE_MS && !isRunning(name));
    const runs = runsOnFile(paths.run);
    if (runs === undefined) {
      return warn(
        `not all files of runs in ${paths.run} can be read: the daemon closes no killed run`,
        'Remove the files `agent-*` there that are not yours, and those of runs that are over.',
      );
    }
    const dead = [...runs.values()].filter((isLiving) => !isLiving).length;
    if (dead > 0) {
      const text = `files of ${plural(dead, 'killed run')} in ${paths.run}`;
      return warn(
        text,
        'Run `sub ledgerd`: the daemon closes such runs as LOST and removes the files.',
      );
    }
    if (stale.length === 0) return ok(`${plural(ours.length, 'file')} of runs, none is stale`);
    return warn(
      `${plural(stale.length, 'file')} of runs that are long over in ${paths.run}`,
      'The next agent removes them; or remove them yourself.',
    );
  });
}

function isRunning(name: string): boolean {
  const pid = Number(RUN_FILE.exec(name)?.[1] ?? Number.NaN);
  if (Number.isNaN(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // Someone else's process is a process, too.
    return codeOf(cause) === 'EPERM';
  }
}

const FILES_MAX = 100_000;

async function looked(
  folder: string,
  nowMs: number,
  judge: (found: readonly LeftFile[]) => Finding,
): Promise<Finding> {
  try {
    const names = readdirSync(folder).slice(0, FILES_MAX);
    return judge(
      names.flatMap((name) => {
        const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
        return stats === undefined
          ? []
          : [{ name, bytes: stats.size, ageMs: Math.max(0, nowMs - stats.mtimeMs) }];
      }),
    );
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT') return judge([]);
    return broken(`${folder} cannot be read (${code})`, 'Check its permissions.');
  }
}
