// The pins of all servers, in one file of the home. Every shim reads it, one process at a time
// changes it, and it is signed with the key of the home: an edit without the key is not believed.
import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  EMPTY_PINS,
  type PinStore,
  parsePins,
  type ServerPins,
  writePins,
} from '@subluminal/core/surface';
import { homeSeal, type Signature, sha256 } from '../../os/crypto/index.ts';
import {
  changeFiles,
  decodeUtf8,
  makeFolders,
  readPrivateFile,
  syncFolder,
  systemCode,
  writePrivateFile,
} from '../../os/index.ts';

export interface PinsFile {
  readonly store: PinStore;
  /** Grows with each write; 0 without a file. */
  readonly revision: number;
}

export const PINS_FILE = 'pins.json';
const FILE_BYTES_MAX = 67_108_864;
const BACKUPS_TRIED_MAX = 100;
const UNSIGNED = 'an earlier version wrote it, or somebody without the key';
const FORGED = 'somebody without the key has changed it, or the key is another one';
const RESET =
  'Restore the file from a backup, or start anew: `sub pins reset --yes` (it keeps a copy).';
const SIGN =
  'Look at them and sign them: `sub pins sign`; restore the file from a backup; or start anew: `sub pins reset --yes` (it keeps a copy).';

/** Reads the pins; none without a file. Refuses a file that is not exactly as it was written. */
export function openPins(home: string): PinsFile | Failure {
  const text = readPinsText(home);
  if (text === undefined) return { store: EMPTY_PINS, revision: 0 };
  if (isFailure(text)) return text;
  if (lastChecked?.home === home && lastChecked.text === text) return lastChecked.file;
  const path = join(home, PINS_FILE);
  const sealed = readSealed(text);
  if (sealed === undefined) return unreadable(`${path} is not what Subluminal writes.`);
  if (sealed === 'unsealed') return unreadable(`${path} is not signed: ${UNSIGNED}.`, fixFor(text));
  const { revision, signature, body } = sealed;
  const holds = homeSeal(home).check(signedText(revision, body), signature);
  if (isFailure(holds)) {
    const message = `${path} cannot be checked: ${holds.message}`;
    return unreadable(message, `Put the key back. ${fixFor(body)}`);
  }
  if (!holds) {
    return unreadable(`${path} has a signature that does not hold: ${FORGED}.`, fixFor(body));
  }
  const store = parseStore(home, body);
  if (isFailure(store)) return store;
  const file = { store, revision };
  if (text.length <= KEPT_LENGTH_MAX) lastChecked = { home, text, file };
  return file;
}

/** Many sessions in one process read the same pins: what was checked once is not checked again. */
let lastChecked:
  | { readonly home: string; readonly text: string; readonly file: PinsFile }
  | undefined;
const KEPT_LENGTH_MAX = 4_194_304;

function parseStore(home: string, body: string): PinStore | Failure {
  const parsed = parsePins(body, sha256);
  return parsed.ok ? parsed.store : unreadable(`${join(home, PINS_FILE)}: ${parsed.message}.`);
}

/** Only pins that can be parsed can be looked at and signed. */
function fixFor(body: string): string {
  return parsePins(body, sha256).ok ? SIGN : RESET;
}

/** The pins without a check of their signature: for a person to look at, never to decide by. */
export function openUntrustedPins(home: string): PinsFile | Failure {
  const text = readPinsText(home);
  if (text === undefined) return { store: EMPTY_PINS, revision: 0 };
  if (isFailure(text)) return text;
  const sealed = readSealed(text);
  const isSealed = typeof sealed === 'object';
  const store = parseStore(home, isSealed ? sealed.body : text);
  return isFailure(store) ? store : { store, revision: isSealed ? sealed.revision : 0 };
}

/** Undefined when there is no file. */
function readPinsText(home: string): string | Failure | undefined {
  const path = join(home, PINS_FILE);
  const read = readPrivateFile(path, { bytesMax: FILE_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') return unreadable(`${path} ${read.why}.`);
  return decodeUtf8(read.bytes) ?? unreadable(`${path} is not valid UTF-8.`);
}

function unreadable(message: string, fix: string = RESET): Failure {
  return failure('SUB_PINS_UNREADABLE', message, fix);
}

/**
 * Changes the pins as they are when it is this process's turn, after what others have added: `change`
 * gets them and returns the new ones. The same object leaves the file as it is.
 */
export function savePins(
  home: string,
  change: (store: PinStore) => PinStore,
): Promise<PinStore | Failure> {
  return changePins(home, () => {
    const opened = openPins(home);
    if (isFailure(opened)) return opened;
    const store = change(opened.store);
    return store === opened.store ? store : writeSigned(home, store, opened.revision);
  });
}

/**
 * Signs the pins that a person has looked at. Undefined when they are no longer
 * the `expected` ones, which were shown.
 */
export function signPins(
  home: string,
  expected: PinStore,
): Promise<PinStore | Failure | undefined> {
  return changePins(home, () => {
    const opened = openUntrustedPins(home);
    if (isFailure(opened)) return opened;
    if (writePins(opened.store) !== writePins(expected)) return undefined;
    return writeSigned(home, opened.store, opened.revision);
  });
}

/** The revision is the time, so that it grows over a reset; one more where the clock went back. */
function writeSigned(home: string, store: PinStore, before: number): PinStore | Failure {
  const revision = Math.max(before + 1, Date.now());
  const body = writePins(store).trimEnd();
  const signature = homeSeal(home).sign(signedText(revision, body));
  if (isFailure(signature)) {
    const message = `the pins cannot be signed: ${signature.message}`;
    return failure('SUB_FILE_WRITE', message, signature.fix);
  }
  const text = sealedText({ revision, signature, body });
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) {
    const message = `the pins would have more than ${FILE_BYTES_MAX} bytes.`;
    return failure('SUB_FILE_WRITE', message, 'Forget servers: `sub pins forget`.');
  }
  writePrivateFile(join(home, PINS_FILE), text);
  return store;
}

/** Starts anew. The old file, readable or not, is kept as a backup; null when there is none. */
export function resetPins(
  home: string,
  nowMs: number,
): Promise<{ readonly backup: string | null } | Failure> {
  return changePins(home, () => {
    const path = join(home, PINS_FILE);
    const folder = join(home, 'backups');
    makeFolders(folder);
    const backup = linkBackup(path, folder, nowMs);
    rmSync(path, { force: true });
    syncFolder(home);
    return { backup };
  });
}

function linkBackup(path: string, folder: string, nowMs: number): string | null {
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

function changePins<T>(home: string, work: () => T): Promise<T | Failure> {
  const lock = { home, name: 'pins', files: [PINS_FILE], what: 'the pins' } as const;
  return changeFiles({ ...lock, busyCode: 'SUB_PINS_BUSY' }, work);
}

/**
 * Adds what a session has seen for the first time. Existing pins stay: of two sessions that see two
 * definitions, the first one's counts, and the other's is a change.
 */
export function rememberPins(store: PinStore, server: string, seen: ServerPins): PinStore {
  const known = store.servers.get(server);
  const tools = new Map([...seen.tools, ...(known?.tools ?? [])]);
  const instructions = known?.instructions ?? seen.instructions;
  const hasNews = tools.size !== (known?.tools.size ?? 0) || instructions !== known?.instructions;
  if (!hasNews) return store;
  return { servers: new Map(store.servers).set(server, { instructions, tools }) };
}

/** The pins, a revision that grows with each write, and a signature over both. */
interface SealedPins {
  readonly revision: number;
  readonly signature: Signature;
  /** The pins, byte for byte as they were signed. */
  readonly body: string;
}

const FORMAT = 'subluminal-pins/2';
const HEAD =
  /^\{\n {2}"format": "subluminal-pins\/2",\n {2}"revision": (\d{1,15}),\n {2}"signature": \{"key_id":"([0-9a-f]{16})","value":"([A-Za-z0-9+/=]{88})"\},\n {2}"pins": /;
const TAIL = '\n}\n';
/** What an earlier version wrote: the pins alone. */
const UNSEALED = /^\{\s*"format":\s*"subluminal-pins\/1"/;
/** Put in front of the signed text, so that no other signature of this key is valid for pins. */
const SIGNED_AS = 'subluminal.pins.v2';

function signedText(revision: number, body: string): string {
  return `${SIGNED_AS}\n${revision}\n${body}`;
}

function sealedText({ revision, signature: { keyId, value }, body }: SealedPins): string {
  const signature = JSON.stringify({ key_id: keyId, value });
  const head = `  "format": "${FORMAT}",\n  "revision": ${revision},\n  "signature": ${signature},\n`;
  return `{\n${head}  "pins": ${body}${TAIL}`;
}

/** `unsealed` for a file of an earlier version; undefined for any other form than ours. */
function readSealed(text: string): SealedPins | 'unsealed' | undefined {
  const [head, revision, keyId, value] = HEAD.exec(text) ?? [];
  if (head === undefined || !text.endsWith(TAIL)) {
    return UNSEALED.test(text) ? 'unsealed' : undefined;
  }
  if (revision === undefined || keyId === undefined || value === undefined) return undefined;
  const body = text.slice(head.length, -TAIL.length);
  return { revision: Number(revision), signature: { keyId, value }, body };
}
