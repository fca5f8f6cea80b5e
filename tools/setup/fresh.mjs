// What the checkout holds now, as hashes, and whether it is what was installed and built last.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { CACHE, ROOT } from './paths.mjs';

const PLATFORM = `${process.platform}-${process.arch}`;
const SKIPPED_FOLDERS = new Set(['dist', 'node_modules', 'coverage']);
const DEPENDENCY_FIELDS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
];

/** Every package.json of the workspace, the root's first. */
function manifests() {
  const folders = existsSync(join(ROOT, 'packages')) ? readdirSync(join(ROOT, 'packages')) : [];
  const inner = folders.toSorted().map((name) => join('packages', name, 'package.json'));
  return ['package.json', ...inner].filter((path) => existsSync(join(ROOT, path)));
}

function installHash() {
  return hashFiles(['package-lock.json', ...manifests()]);
}

/** Dependencies are bundled too, so the lockfile is a part of what is built. */
function buildHash() {
  const tools = ['tools/build.mjs', 'tools/build/bundle.mjs', 'tools/build/precompile.mjs'];
  const built = ['package.json', 'package-lock.json', ...tools];
  return hashFiles([...built, ...sourcesUnder(join(ROOT, 'packages'))]);
}

function sourcesUnder(folder) {
  const paths = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(entry.name)) paths.push(...sourcesUnder(path));
    } else if (entry.isFile() && !/\.test\.[a-z]+$/.test(entry.name)) {
      paths.push(relative(ROOT, path).split(sep).join('/'));
    }
  }
  return paths.toSorted();
}

function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const file = join(ROOT, path);
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    // Lengths keep two neighbours from trading bytes unnoticed.
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

function readStamp(name) {
  const stamp = readJson(join(CACHE, `${name}.json`));
  return stamp?.platform === undefined ? undefined : stamp;
}

function writeStamp(name, hash) {
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, `${name}.json`), JSON.stringify({ hash, platform: PLATFORM }));
}

function dropStamp(name) {
  rmSync(join(CACHE, `${name}.json`), { force: true });
}

/** `fresh`, `stale`, or `unstamped`: installed by hand with just what the lockfile says. */
function installState(hash) {
  if (!existsSync(join(ROOT, 'node_modules', '.package-lock.json'))) return 'stale';
  const stamp = readStamp('install');
  if (stamp !== undefined && stamp.platform !== PLATFORM) return 'stale';
  if (stamp?.hash === hash) return 'fresh';
  return matchesLockfile() ? 'unstamped' : 'stale';
}

function buildState(hash) {
  const stamp = readStamp('build');
  const built = existsSync(join(ROOT, 'packages', 'cli', 'dist', 'sub.js'));
  return built && stamp?.hash === hash ? 'fresh' : 'stale';
}

/** Whether npm's own record of node_modules, the lockfile and the manifests say the same. */
function matchesLockfile() {
  const lock = readJson(join(ROOT, 'package-lock.json'))?.packages;
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'))?.packages;
  if (lock === undefined || installed === undefined) return false;
  const extra = Object.keys(installed).some((key) => lock[key] === undefined);
  return !extra && manifestsMatch(lock) && entriesMatch(lock, installed);
}

function manifestsMatch(lock) {
  return manifests().every((path) => {
    const manifest = readJson(join(ROOT, path));
    const locked = lock[path === 'package.json' ? '' : path.replace(/\/package\.json$/, '')];
    if (manifest === undefined || locked === undefined) return false;
    return DEPENDENCY_FIELDS.every((field) => sameEntries(manifest[field], locked[field]));
  });
}

function entriesMatch(lock, installed) {
  return Object.entries(lock).every(([key, wanted]) => {
    if (key === '') return true;
    const have = installed[key];
    if (have === undefined) return wanted.optional === true && !isForThisPlatform(wanted);
    const same = have.version === wanted.version && have.integrity === wanted.integrity;
    return same && existsSync(join(ROOT, key));
  });
}

/** What this platform needs and npm, for which it is only optional, left out without a word. */
function leftOut() {
  const lock = readJson(join(ROOT, 'package-lock.json'))?.packages ?? {};
  return Object.entries(lock)
    .filter(
      ([key, entry]) => isForThisPlatform(entry) && !existsSync(join(ROOT, key, 'package.json')),
    )
    .map(([key]) => key.replace(/^.*node_modules\//, ''));
}

function isForThisPlatform({ os, cpu, libc }) {
  if (os === undefined || cpu === undefined) return false;
  return (
    os.includes(process.platform) &&
    cpu.includes(process.arch) &&
    (libc === undefined || libc.includes(ownLibc()))
  );
}

function ownLibc() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

function sameEntries(left = {}, right = {}) {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export { buildHash, buildState, dropStamp, installHash, installState, leftOut, writeStamp };
