// One record is a file `<id>.json`; its end, if it has one, is `<id>.end.json`. Channels may leave
// marks beside it: `<id>.<mark>.json`. The queue and the grants are both kept like this.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, isFailure, isUuid, type Mismatch, type Parsed } from '@subluminal/contracts';
import { sha256 } from '../../os/crypto/index.ts';
import { createPrivateFile, decodeUtf8, parseJson, readPrivateFile } from '../../os/index.ts';
import { diskFailure, ensureFolder, recordNames, unsafeFolder } from './files.ts';
import type { ApprovalPorts } from './ports.ts';
import type { RecordSeal } from './sealed-record.ts';

interface Identified {
  readonly id: string;
}

interface RecordKind<R extends Identified, E extends Identified> {
  readonly folder: string;
  readonly ports: ApprovalPorts;
  readonly seal: RecordSeal;
  /** Files that are looked at; what is beyond is reported, never decided on. */
  readonly filesMax: number;
  readonly parseRecord: (value: unknown) => Parsed<R>;
  readonly parseEnd: (value: unknown) => Parsed<E>;
}

export interface FoundRecord<R, E> {
  readonly kind: 'found';
  readonly record: R;
  /** Of the record, byte for byte as it stands in its file. */
  readonly sha256: string;
  readonly end: E | null;
}
export interface Damaged {
  readonly kind: 'damaged';
  readonly id: string;
  readonly file: string;
  readonly why: string;
}
export interface Missing {
  readonly kind: 'missing';
}

export interface Listing<T> {
  readonly found: readonly T[];
  readonly damaged: readonly Damaged[];
  /** There are more files than are read. */
  readonly cut: boolean;
}

const FILE = /^([0-9a-f-]{36})(?:\.([a-z0-9-]{1,32}))?\.json$/;
/** Of killed writers; earlier versions put the dot first. */
const DRAFT = /^\.?.{1,120}\.draft$/;
const END = 'end';
const RECORD_BYTES_MAX = 262_144;
const END_BYTES_MAX = 16_384;
const DRAFT_AGE_MAX_MS = 3_600_000;

export class Records<R extends Identified, E extends Identified> {
  readonly #kind: RecordKind<R, E>;

  constructor(kind: RecordKind<R, E>) {
    this.#kind = kind;
  }

  get folder(): string {
    return this.#kind.folder;
  }

  /** Every id that has a record, in order, and whether it has an end. */
  ids(): { readonly ids: ReadonlyMap<string, boolean>; readonly cut: boolean } | Failure {
    const unsafe = unsafeFolder(this.folder);
    if (unsafe !== undefined) return unsafe;
    const read = recordNames(this.folder, this.#kind.filesMax);
    if (isFailure(read)) return read;
    const ids = new Map<string, boolean>();
    // `<id>.end.json` sorts before `<id>.json`.
    const ended = new Set<string>();
    for (const name of read.names) {
      const [, id = '', part] = FILE.exec(name) ?? [];
      if (!isUuid(id)) continue;
      if (part === END) ended.add(id);
      else if (part === undefined) ids.set(id, false);
    }
    for (const id of ended) if (ids.has(id)) ids.set(id, true);
    return { ids, cut: read.cut };
  }

  get(id: string): FoundRecord<R, E> | Damaged | Missing {
    if (!isUuid(id)) return { kind: 'missing' };
    const { parseRecord, parseEnd } = this.#kind;
    const record = this.#parsed(this.#read(`${id}.json`, RECORD_BYTES_MAX), parseRecord);
    if (record.kind !== 'value') return record;
    const end = this.#parsed(this.#read(`${id}.${END}.json`, END_BYTES_MAX), parseEnd);
    if (end.kind === 'damaged') return end;
    const { value, sha256: hash } = record;
    return {
      kind: 'found',
      record: value,
      sha256: hash,
      end: end.kind === 'missing' ? null : end.value,
    };
  }

  /** All records, in order, or only those without an end; damaged ones are listed apart. */
  all(which: 'all' | 'open'): Listing<FoundRecord<R, E>> | Failure {
    const known = this.ids();
    if (isFailure(known)) return known;
    const found: FoundRecord<R, E>[] = [];
    const damaged: Damaged[] = [];
    for (const [id, isEnded] of known.ids) {
      if (isEnded && which === 'open') continue;
      const one = this.get(id);
      if (one.kind === 'found') found.push(one);
      else if (one.kind === 'damaged') damaged.push(one);
    }
    return { found, damaged, cut: known.cut };
  }

  create(record: R): 'written' | 'taken' | 'too_large' | Failure {
    return this.#write(`${record.id}.json`, record, RECORD_BYTES_MAX);
  }

  /** The first end that is written wins. */
  end(end: E): 'written' | 'taken' | 'too_large' | Failure {
    return this.#write(`${end.id}.${END}.json`, end, END_BYTES_MAX);
  }

  /** Leaves a mark beside a record; `taken` when another has left it. */
  mark(id: string, name: string, value: unknown): 'written' | 'taken' | 'too_large' | Failure {
    return this.#write(`${id}.${name}.json`, value, END_BYTES_MAX);
  }

  /** What a mark says; undefined when there is none that can be read. */
  marked(id: string, name: string): { readonly value: unknown } | undefined {
    const read = this.#read(`${id}.${name}.json`, END_BYTES_MAX);
    return read.kind === 'json' ? { value: read.json } : undefined;
  }

  /** Removes a record and everything beside it; the record goes first, so that no end is lost. */
  remove(id: string): Failure | undefined {
    const read = recordNames(this.folder, this.#kind.filesMax);
    if (isFailure(read)) return read;
    const own = read.names.filter((name) => FILE.exec(name)?.[1] === id);
    const recordFirst = [`${id}.json`, ...own.filter((name) => name !== `${id}.json`)];
    return this.#drop(recordFirst);
  }

  /** Removes what crashes have left: old drafts, and what stands beside a record that is gone. */
  sweepRemains(): Failure | undefined {
    const known = this.ids();
    const read = recordNames(this.folder, this.#kind.filesMax);
    if (isFailure(known)) return known;
    if (isFailure(read)) return read;
    const oldMs = this.#kind.ports.nowMs() - DRAFT_AGE_MAX_MS;
    const remains = read.names.filter((name) => {
      const id = FILE.exec(name)?.[1];
      const isRemains = id === undefined ? DRAFT.test(name) : isUuid(id) && !known.ids.has(id);
      const stats = isRemains
        ? statSync(join(this.folder, name), { throwIfNoEntry: false })
        : undefined;
      return stats !== undefined && stats.mtimeMs < oldMs;
    });
    return this.#drop(remains);
  }

  #drop(names: readonly string[]): Failure | undefined {
    for (const name of names) {
      const path = join(this.folder, name);
      try {
        rmSync(path, { force: true });
      } catch (cause) {
        return diskFailure(path, 'removed', cause);
      }
    }
    return undefined;
  }

  #write(
    name: string,
    value: unknown,
    bytesMax: number,
  ): 'written' | 'taken' | 'too_large' | Failure {
    const unsafe = ensureFolder(this.folder);
    if (unsafe !== undefined) return unsafe;
    const text = this.#kind.seal.seal(name, JSON.stringify(value));
    if (typeof text !== 'string') return text;
    if (Buffer.byteLength(text) > bytesMax) return 'too_large';
    const path = join(this.folder, name);
    try {
      return createPrivateFile(path, text) === 'created' ? 'written' : 'taken';
    } catch (cause) {
      return diskFailure(path, 'written', cause);
    }
  }

  /** Reads a regular file that only its owner can have written, and checks its signature. */
  #read(file: string, bytesMax: number): SealedJson | Damaged | Missing {
    const path = join(this.folder, file);
    const [id = ''] = file.split('.');
    const damaged = (why: string): Damaged => ({ kind: 'damaged', id, file: path, why });
    const read = readPrivateFile(path, { bytesMax });
    if (read.kind === 'missing' && read.code === 'ENOENT') return { kind: 'missing' };
    if (read.kind === 'missing') return damaged(`it is closed (${read.code})`);
    if (read.kind === 'unreadable') return damaged(`it ${read.why}`);
    const text = decodeUtf8(read.bytes);
    if (text === undefined) return damaged('it is not UTF-8');
    const opened = this.#kind.seal.open(file, text);
    if (opened.kind === 'refused') return damaged(opened.why);
    const json = parseJson(opened.line);
    return json === undefined
      ? damaged('it is not JSON')
      : { kind: 'json', json, text, damaged, id };
  }

  #parsed<T extends Identified>(
    read: SealedJson | Damaged | Missing,
    parse: (value: unknown) => Parsed<T>,
  ): { readonly kind: 'value'; readonly value: T; readonly sha256: string } | Damaged | Missing {
    if (read.kind !== 'json') return read;
    const parsed = parse(read.json);
    if (!parsed.ok) return read.damaged(mismatchText(parsed.mismatches));
    if (parsed.value.id !== read.id) return read.damaged('it names another id');
    return { kind: 'value', value: parsed.value, sha256: sha256(read.text) };
  }
}

/** What a file holds, before its form is checked. */
interface SealedJson {
  readonly kind: 'json';
  readonly id: string;
  readonly json: unknown;
  readonly text: string;
  readonly damaged: (why: string) => Damaged;
}

/** The first thing that is wrong. What stands there is left out: it may be anything. */
function mismatchText([first]: readonly Mismatch[]): string {
  if (first === undefined) return 'it has another form';
  return `\`${first.path.join('.').slice(0, 200)}\` should be ${first.expected}`;
}
