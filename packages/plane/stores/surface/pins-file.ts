// The pins of all servers, in one file of the home: read by every shim, changed by one process at a
// time, and signed with the key of the home: an edit by somebody without the key is not believed.
import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  EMPTY_PINS,
  type OpenedPins,
  type PinStore,
  parsePins,
  type ServerPins,
  writePins,
} from '@subluminal/core/surface';
import { homeSeal } from '../../os/crypto/index.ts';
import {
  makeFolders,
  readPrivateFile,
  removeDrafts,
  syncFolder,
  systemCode,
  takeLock,
  writePrivateFile,
} from '../../os/index.ts';
import { sha256 } from './hash.ts';
import { readSealed, sealedText, signedText } from './sealed-pins.ts';

export type PinsCode = 'SUB_PINS_UNREADABLE' | 'SUB_PINS_BUSY' | 'SUB_FILE_WRITE';

export interface PinsProblem {
  readonly ok: false;
  readonly code: PinsCode;
  /** A sentence without its end. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
}

export type UnreadablePins = PinsProblem & Extract<OpenedPins, { ok: false }>;

/** The pins as they were read. */
export type PinsFile =
  | (Extract<OpenedPins, { ok: true }> & {
      /** Grows with each write; 0 when there are none. */
      readonly revision: number;
    })
  | UnreadablePins;
export type SavedPins = { readonly ok: true; readonly store: PinStore } | PinsProblem;
export type ResetPins = { readonly ok: true; readonly backup: string | null } | PinsProblem;

export const PINS_FILE = 'pins.json';
const FILE_BYTES_MAX = 67_108_864;
const BACKUPS_TRIED_MAX = 100;

/** Reads the pins. No file is no pin yet; a file that is not as we wrote it proves nothing. */
export function openPins(home: string): PinsFile {
  const text = readPinsText(home);
  if (text === undefined) return { ok: true, store: EMPTY_PINS, revision: 0 };
  if (typeof text !== 'string') return text;
  const path = join(home, PINS_FILE);
  const sealed = readSealed(text);
  if (sealed === undefined) return unreadable(`${path} is not what Subluminal writes`);
  if (sealed === 'unsealed') return unreadable(`${path} is not signed${UNSIGNED}`, fixFor(text));
  const { revision, signature, body } = sealed;
  const checked = homeSeal(home).check(signedText(revision, body), signature);
  if (checked.kind === 'fault') {
    const why = checked.message.replace(/\.$/, '');
    return unreadable(`${path} cannot be checked: ${why}`, `Put the key back. ${fixFor(body)}`);
  }
  if (checked.kind === 'forged') {
    return unreadable(`${path} has a signature that does not hold${FORGED}`, fixFor(body));
  }
  const parsed = parsePins(body, sha256);
  return parsed.ok ? { ...parsed, revision } : unreadable(`${path}: ${parsed.message}`);
}

const UNSIGNED = ': an earlier version wrote it, or somebody without the key';
const FORGED = ': somebody without the key has changed it, or the key is another one';
const RESET =
  'Restore the file from a backup, or start anew: `sub pins reset --yes` (it keeps a copy).';
const SIGN =
  'Look at them and sign them: `sub pins sign`; restore the file from a backup; or start anew: `sub pins reset --yes` (it keeps a copy).';

/** Only pins that can be read can be looked at and signed. */
function fixFor(body: string): string {
  return parsePins(body, sha256).ok ? SIGN : RESET;
}

/** The pins without their signature: for a person to look at, never to decide by. */
export function openUntrustedPins(
  home: string,
): Extract<OpenedPins, { ok: true }> | UnreadablePins {
  const text = readPinsText(home);
  if (text === undefined) return { ok: true, store: EMPTY_PINS };
  if (typeof text !== 'string') return text;
  const sealed = readSealed(text);
  const parsed = parsePins(typeof sealed === 'object' ? sealed.body : text, sha256);
  return parsed.ok ? parsed : unreadable(`${join(home, PINS_FILE)}: ${parsed.message}`);
}

/** Undefined when there is no file. */
function readPinsText(home: string): string | undefined | UnreadablePins {
  const path = join(home, PINS_FILE);
  const read = readPrivateFile(path, { bytesMax: FILE_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') return unreadable(`${path} ${read.why}`);
  const text = decoded(read.bytes);
  return text ?? unreadable(`${path} is not valid UTF-8`);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function unreadable(message: string, fix: string = RESET): UnreadablePins {
  return { ok: false, code: 'SUB_PINS_UNREADABLE', message, fix };
}

/**
 * Changes the pins as they are when it is this process's turn, whatever others have added before:
 * `change` gets them, and gives what they shall be; the same object leaves the file as it is.
 */
export function savePins(home: string, change: (store: PinStore) => PinStore): Promise<SavedPins> {
  return locked(home, (): SavedPins => {
    const opened = openPins(home);
    if (!opened.ok) return opened;
    const store = change(opened.store);
    if (store === opened.store) return { ok: true, store };
    return writeSigned(home, store, opened.revision);
  });
}

/**
 * Signs the pins as they are, whoever wrote them: a person has looked at them. `expected` is what
 * was shown; undefined comes back when something else is there by now.
 */
export function signPins(home: string, expected: PinStore): Promise<SavedPins | undefined> {
  return locked(home, (): SavedPins | undefined => {
    const opened = openUntrustedPins(home);
    if (!opened.ok) return opened;
    if (writePins(opened.store) !== writePins(expected)) return undefined;
    const text = readPinsText(home);
    const sealed = typeof text === 'string' ? readSealed(text) : undefined;
    const revision = typeof sealed === 'object' ? sealed.revision : 0;
    return writeSigned(home, opened.store, revision);
  });
}

/** By the clock, so that it grows over a reset as well; by one where the clock went back. */
function writeSigned(home: string, store: PinStore, before: number): SavedPins {
  const revision = Math.max(before + 1, Date.now());
  const body = writePins(store).trimEnd();
  const signed = homeSeal(home).sign(signedText(revision, body));
  if (signed.kind === 'fault') {
    const message = `the pins cannot be signed: ${signed.message.replace(/\.$/, '')}`;
    return { ok: false, code: 'SUB_FILE_WRITE', message, fix: signed.fix };
  }
  const text = sealedText({ revision, signature: signed.signature, body });
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) return tooMany();
  writePrivateFile(join(home, PINS_FILE), text);
  return { ok: true, store };
}

function tooMany(): PinsProblem {
  const message = `the pins would have more than ${FILE_BYTES_MAX} bytes`;
  return { ok: false, code: 'SUB_FILE_WRITE', message, fix: 'Forget servers: `sub pins forget`.' };
}

/** Starts anew; what was there, readable or not, is kept aside. */
export function resetPins(home: string, nowMs: number): Promise<ResetPins> {
  return locked(home, () => {
    const path = join(home, PINS_FILE);
    const folder = join(home, 'backups');
    makeFolders(folder);
    const backup = keptAside(path, folder, nowMs);
    rmSync(path, { force: true });
    syncFolder(home);
    return { ok: true, backup };
  });
}

/** Null when there is nothing to keep. */
function keptAside(path: string, folder: string, nowMs: number): string | null {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let tried = 0; tried < BACKUPS_TRIED_MAX; tried++) {
    const backup = join(folder, `pins-${time}${tried === 0 ? '' : `-${tried}`}.json`);
    try {
      linkSync(path, backup);
      syncFolder(folder);
      return backup;
    } catch (cause) {
      const code = systemCode(cause);
      if (code === 'ENOENT') return null;
      if (code !== 'EEXIST') throw cause;
    }
  }
  throw Object.assign(new Error('too many backups of one second'), { code: 'EEXIST' });
}

async function locked<R>(home: string, work: () => R | PinsProblem): Promise<R | PinsProblem> {
  try {
    const lock = await takeLock({ folder: join(home, 'run'), name: 'pins' });
    if (lock.kind === 'held') return busy(lock.pid);
    try {
      removeDrafts(join(home, PINS_FILE));
      return work();
    } finally {
      lock.release();
    }
  } catch (cause) {
    const message = `the pins in ${home} cannot be written (${systemCode(cause)})`;
    const fix = 'Check the folder, its permissions and the space on its disk.';
    return { ok: false, code: 'SUB_FILE_WRITE', message, fix };
  }
}

function busy(pid: number): PinsProblem {
  const message = `another process (${pid}) is changing the pins`;
  return { ok: false, code: 'SUB_PINS_BUSY', message, fix: 'Wait for it to end, and try again.' };
}

/**
 * Adds what a session has seen for the first time. What is pinned already stays: of two sessions
 * that see two definitions, the first one's counts, and the other's is a change.
 */
export function rememberPins(store: PinStore, server: string, seen: ServerPins): PinStore {
  const known = store.servers.get(server);
  const tools = new Map([...seen.tools, ...(known?.tools ?? [])]);
  const instructions = known?.instructions ?? seen.instructions;
  const hasNews = tools.size !== (known?.tools.size ?? 0) || instructions !== known?.instructions;
  if (!hasNews) return store;
  return { servers: new Map(store.servers).set(server, { instructions, tools }) };
}
