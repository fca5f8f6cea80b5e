// Copies of a config that other programs have made: backups of the client, histories and swap files of
// editors. A secret that has moved into the store may still stand in them.
import { type Dirent, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, codeOrText, readRegularFile } from '../../../os/index.ts';
import { CLIENTS, type Client } from '../index.ts';
import { type AdoptionPlace, clientPlace } from '../inspect/adoption-place.ts';
import type { FoundConfig } from '../inspect/find-configs.ts';
import { applicationData, realPath } from '../project-folders.ts';
import { CONFIG_BYTES_MAX } from '../store/config-file.ts';
import type { SecretMove } from './plan-moves.ts';

interface ChangedConfig {
  readonly client: Client;
  readonly found: FoundConfig;
  readonly moves: readonly Pick<SecretMove, 'value'>[];
}

export interface OtherCopies {
  readonly paths: readonly string[];
  /** False when there was more to look through than is looked at. */
  readonly isWhole: boolean;
}

const EDITORS: readonly string[] = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];
const FILES_MAX = 5_000;
const DEPTH_MAX = 3;
const ALL_BYTES_MAX = 134_217_728;

/** The files beside these configs, of their clients and of editors that hold what moved. */
export function findCopies(
  configs: readonly ChangedConfig[],
  options: Pick<AdoptionPlace, 'env' | 'project'>,
): OtherCopies {
  const values = configs.flatMap(({ moves }) => moves.flatMap(({ value }) => spellings(value())));
  if (values.length === 0) return { paths: [], isWhole: true };
  const place = clientPlace(options);
  // What a client reads is no copy: it is imported, or left, as a config.
  const live = new Set(
    CLIENTS.flatMap((one) => one.files(place).map(({ path }) => realPath(path))),
  );
  const files = new Set(configs.flatMap(({ found }) => filesBeside(found)));
  const folders = new Set([
    ...configs.flatMap(({ client }) => client.copyFolders(place)),
    ...EDITORS.map((editor) => join(applicationData(place), editor, 'User', 'History')),
  ]);
  for (const folder of folders) for (const path of filesUnder(folder)) files.add(path);
  const paths: string[] = [];
  let bytesLeft = ALL_BYTES_MAX;
  for (const path of files) {
    if (live.has(realPath(path)) || bytesLeft <= 0) continue;
    const read = readRegularFile(path, { bytesMax: CONFIG_BYTES_MAX, noFollow: true });
    if (read.kind !== 'read') continue;
    bytesLeft -= read.bytes.length;
    if (values.some((value) => read.bytes.includes(value))) paths.push(path);
  }
  return { paths: paths.toSorted(), isWhole: files.size < FILES_MAX && bytesLeft > 0 };
}

/** As it is, and as JSON and TOML write it. */
function spellings(value: string): readonly string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1)])];
}

/** What comes behind the name of a file in the name of its backup: `~`, `.bak`, `-backup-2`, a number or a date. */
const BACKUP_ENDING =
  /^(?:~|[.~_-]+(?:backup[\w.:~+-]*|(?:bak|old|orig(?:inal)?|saved?|prev(?:ious)?|copy|corrupted|tmp)(?![a-z])[\w.:~+-]*|\d[\dTZ.:~_+-]*))$/i;
const SWAP_ENDING = /^\.sw[a-z]$/;

/** `mcp.json.bak`, `.mcp.json.swp`, `mcp.json~`, but not `my-mcp.json`, which may be another config. */
export function isCopyName(name: string, config: string): boolean {
  if (name.startsWith(config) && BACKUP_ENDING.test(name.slice(config.length))) return true;
  const hidden = config.startsWith('.') ? config : `.${config}`;
  return name.startsWith(hidden) && SWAP_ENDING.test(name.slice(hidden.length));
}

function filesBeside({ file, target }: FoundConfig): readonly string[] {
  return [...new Set([file.path, target])].flatMap((path) =>
    entriesIn(dirname(path))
      .filter((entry) => entry.isFile() && isCopyName(entry.name, basename(path)))
      .map(({ name }) => join(dirname(path), name))
      .filter((one) => one !== path && realPath(one) !== target)
      .slice(0, FILES_MAX),
  );
}

/** The files of a folder of copies, as far down as clients and editors put them. */
function filesUnder(folder: string): readonly string[] {
  const files: string[] = [];
  const open = [{ path: folder, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entriesIn(next.path)) {
      const path = join(next.path, entry.name);
      if (files.length >= FILES_MAX) return files;
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && next.depth < DEPTH_MAX) {
        open.push({ path, depth: next.depth + 1 });
      }
    }
  }
  return files;
}

function entriesIn(folder: string): readonly Dirent[] {
  return attempt((): readonly Dirent[] => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** Undefined when it is gone; else why it is still there. */
export function removeCopy(path: string): string | undefined {
  try {
    rmSync(path);
    return undefined;
  } catch (cause) {
    return codeOrText(cause);
  }
}
