// What a policy was compiled to, kept in the home, so that a shim that starts with the same files need not read YAML.
// It is believed only as far as it was made from these very bytes by this very build, in this home: it carries a MAC
// by the key of the home. Whatever is odd about it, the files are read instead.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure, isObject, type Profile, type SnapshotFile } from '@subluminal/contracts';
import { ensureHomeKey, homeMac, isHomeMac, sha256, sha256Bytes } from '../../os/crypto/index.ts';
import {
  attempt,
  ensurePrivateFolder,
  parseJson,
  readPrivateFile,
  writePrivateFile,
} from '../../os/index.ts';
import type { PolicySource } from './sources.ts';

/** Set by the build to a hash of all sources; nothing is kept without it. */
declare const SUB_BUILD: string | undefined;

/** A source whose bytes are known. */
export type ReadSource = PolicySource & { readonly bytes: Buffer };

export interface CompiledPlace {
  readonly home: string;
  readonly profile: Profile;
  readonly build?: string | undefined;
}

const FOLDER = 'compiled';
const FILE = /^policy-[0-9a-f]{64}$/;
const FILES_MAX = 64;
const FILE_BYTES_MAX = 4_194_304;
const PURPOSE = 'subluminal.compiled-policy.v1';
const MAC_LENGTH = 64;

export function ownBuild(): string | undefined {
  return typeof SUB_BUILD === 'string' ? SUB_BUILD : undefined;
}

/** The sealed snapshot; undefined unless all is as it was written here, for these sources. */
export function readCompiled(
  sources: readonly ReadSource[],
  place: CompiledPlace,
): object | undefined {
  if (place.build === undefined) return undefined;
  const path = pathFor(sources, place);
  const read = readPrivateFile(path, { bytesMax: FILE_BYTES_MAX, isSecret: true });
  if (read.kind !== 'read') return undefined;
  const text = read.bytes.toString('utf8');
  const body = text.slice(MAC_LENGTH + 1);
  const mac = Buffer.from(text.slice(0, MAC_LENGTH), 'hex');
  if (!isHomeMac(mac, homeMac(place.home, PURPOSE, body))) return undefined;
  const kept = parseJson(body);
  if (!isObject(kept) || kept['made_from'] !== madeFrom(sources, place)) return undefined;
  const { sealed } = kept;
  return isObject(sealed) ? sealed : undefined;
}

/** Keeps it for the next start, where that is possible. */
export function keepCompiled(
  sources: readonly ReadSource[],
  sealed: SnapshotFile,
  place: CompiledPlace,
): void {
  if (place.build === undefined) return;
  const { home } = place;
  const body = `${JSON.stringify({ made_from: madeFrom(sources, place), sealed })}\n`;
  if (Buffer.byteLength(body) > FILE_BYTES_MAX / 2) return;
  const mac = homeMac(home, PURPOSE, body) ?? firstMac(home, body);
  const path = pathFor(sources, place);
  if (mac === undefined || ensurePrivateFolder(join(home, FOLDER)) !== undefined) return;
  attempt(() => {
    makeRoom(join(home, FOLDER));
    // After a power cut the MAC tells what is left of it.
    writePrivateFile(path, `${mac.toString('hex')}\n${body}`, { isLasting: false });
  });
}

function firstMac(home: string, body: string): Buffer | undefined {
  return isFailure(ensureHomeKey(home)) ? undefined : homeMac(home, PURPOSE, body);
}

/** Everything that the compiled form depends on. */
function madeFrom(sources: readonly ReadSource[], { profile, build }: CompiledPlace): string {
  const files = sources.map(({ path, role, bytes }) => [path, role, sha256Bytes(bytes)]);
  return JSON.stringify([build, process.version, profile, files]);
}

/** One file for each set of sources: another content takes its place. */
function pathFor(sources: readonly ReadSource[], { home, profile }: CompiledPlace): string {
  const names = sources.map(({ path, role }) => [path, role]);
  return join(home, FOLDER, `policy-${sha256(JSON.stringify([profile, names]))}`);
}

function makeRoom(folder: string): void {
  const kept = readdirSync(folder).filter((name) => FILE.test(name));
  if (kept.length < FILES_MAX) return;
  for (const name of kept) rmSync(join(folder, name), { force: true });
}
