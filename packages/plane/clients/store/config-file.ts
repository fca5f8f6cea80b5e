// A client's config as a file: read through links, replaced whole.
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ConfigProblem } from '../types.ts';
import { readBounded, syncFolder } from './files.ts';
import { problem, quoted, systemCode, systemProblem } from './problem.ts';
import type { OnStep } from './step.ts';

interface ConfigBytes {
  readonly kind: 'read';
  /** As the client finds it. */
  readonly path: string;
  /** The file itself, behind all links. */
  readonly target: string;
  readonly bytes: Buffer;
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** There is nothing under that name, not even a link. */
interface Missing {
  readonly kind: 'missing';
  readonly path: string;
}

const CONFIG_BYTES_MAX = 33_554_432;
const PERMISSIONS = 0o7777;
const GROUP_PERMISSIONS = 0o070;

function readConfigFile(path: string): ConfigBytes | Missing | ConfigProblem {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'missing', path };
    return readTarget(path, realpathSync(path));
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT') {
      const fix = `Make what it points to, or remove the link: rm ${quoted(path)}`;
      return problem(path, `${path} is a link to nothing.`, fix);
    }
    if (code !== 'ELOOP') return systemProblem(path, 'read', cause);
    return problem(path, `${path} is a link that leads back to itself.`, 'Correct the link.');
  }
}

function readTarget(path: string, target: string): ConfigBytes | ConfigProblem {
  // Without NONBLOCK a pipe in its place would wait for a writer for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openSync(target, flags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return problem(path, `${path} is not a file.`, 'Put a config there.');
    const bytes = readBounded(fd, CONFIG_BYTES_MAX);
    if (bytes === undefined) {
      return problem(path, `${path} is larger than 32 MiB.`, 'Make it smaller.');
    }
    const text = decoded(bytes);
    if (text === undefined) {
      return problem(path, `${path} is not UTF-8 text.`, 'Save it as UTF-8.');
    }
    const { mode, uid, gid } = stats;
    return { kind: 'read', path, target, bytes, text, mode: mode & PERMISSIONS, uid, gid };
  } finally {
    closeSync(fd);
  }
}

/** The byte order mark stays: the text must become the same bytes again. */
function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where the next content is written before it takes the place of a config. */
function draftPath(target: string, uuid: string): string {
  return join(dirname(target), `.${basename(target)}.subluminal-${uuid}`);
}

interface Replacement {
  readonly config: ConfigBytes;
  readonly bytes: Uint8Array;
  readonly draft: string;
  readonly onStep?: OnStep | undefined;
}

type Replaced =
  | { readonly kind: 'replaced' }
  /** Somebody else has written the config since it was read. */
  | { readonly kind: 'changed' }
  | ConfigProblem;

/** Puts other bytes in the place of a config that is still as it was read; else nothing is changed. */
function replaceConfigFile({ config, bytes, draft, onStep }: Replacement): Replaced {
  const { path, target } = config;
  try {
    writeDraft({ config, bytes, draft, onStep });
    onStep?.('draft written');
    if (!isStill(config)) {
      rmSync(draft, { force: true });
      return { kind: 'changed' };
    }
    onStep?.('compared');
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { force: true });
    return systemProblem(path, 'written', cause);
  }
  onStep?.('replaced');
  makeLast(dirname(target));
  return { kind: 'replaced' };
}

/** Open to its owner alone until it belongs to whom the config belongs. */
function writeDraft({ config, bytes, draft, onStep }: Replacement): void {
  const fd = openSync(draft, 'wx', 0o600);
  try {
    onStep?.('draft made');
    writeFileSync(fd, bytes);
    fchmodSync(fd, config.mode & ~GROUP_PERMISSIONS);
    if (isGiven(fd, config)) fchmodSync(fd, config.mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Without the right to give it away it stays ours; then another group must not get the group's rights. */
function isGiven(fd: number, { uid, gid }: ConfigBytes): boolean {
  const own = fstatSync(fd);
  if (own.uid === uid && own.gid === gid) return true;
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch {
    // Where only the owner may not be changed, the group still may.
  }
  try {
    fchownSync(fd, -1, gid);
    return true;
  } catch {
    return false;
  }
}

function isStill({ path, target, bytes }: ConfigBytes): boolean {
  const now = readConfigFile(path);
  return now.kind === 'read' && now.target === target && now.bytes.equals(bytes);
}

/** The new content is in place: that a power cut might undo it is no reason to say that it failed. */
function makeLast(folder: string): void {
  try {
    syncFolder(folder);
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
  }
}

export type { ConfigBytes, Missing, Replaced };
export { CONFIG_BYTES_MAX, draftPath, readConfigFile, replaceConfigFile };
