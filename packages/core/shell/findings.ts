// Collects what a script touches.

import { compileGlob } from '../patterns/glob.ts';
import { pathIn, type WorkingFolders } from './folders.ts';
import { filesInUrl, hostAlone, hostOfRemote, hostOfSocket, hostOfUrl } from './hosts.ts';
import type { CommandOutline, OpaquePart, OpaqueReason, ProgramUse, PutPath } from './outline.ts';
import { MadeLinks, zshPattern } from './path-variants.ts';
import type { Role } from './programs/spec.ts';
import { UNKNOWN } from './word-texts.ts';

const OPAQUE_TEXT_MAX = 120;
const OPAQUE_MAX = 32;
const PROGRAMS_MAX = 10_000;
/** All paths and hosts together. */
const CHARS_MAX = 2_097_152;
const FOUND_COST = 32;
const LINKS_MAX = 16;
/** Files that every program has, or that keep nothing. */
const STREAM = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|fd\/\d+|u?random)$/;
/** Names of revisions, and ranges of them. */
const REVISION =
  /^(?:@|\^?(?:[A-Z]+_)?HEAD|[0-9a-f]{7,40}|main|master|trunk|develop|origin|upstream|stash|(?:origin|upstream|refs|heads|tags)\/.*|v?\d+(?:\.\d+)+\S*)(?:[~^@:.].*)?$|\S\.\.\.?(?:[^/]|$)|[^/]@\{|~\d*$|\^\d*$/;
const WRITING: ReadonlySet<Role> = new Set(['write', 'remote_write', 'change', 'remove', 'move']);
/** What a value of an option has that is a path. */
const PATHISH = /[/~\\]|^\.|\.\w{1,8}$|\*/;

export class Findings {
  readonly programs: ProgramUse[] = [];
  readonly #reads = new Set<string>();
  readonly #writes = new Set<string>();
  readonly #trees = new Set<string>();
  readonly #removes = new Set<string>();
  readonly #puts: PutPath[] = [];
  readonly #hosts = new Set<string>();
  readonly #paths = new Set<string>();
  readonly #opaque = new Map<string, OpaquePart>();
  /** Other folders that `~` may be, because the line sets `HOME`. */
  readonly homes = new Set<string>();
  readonly #links = new MadeLinks();
  readonly #linkPaths = new Set<string>();
  #charsLeft = CHARS_MAX;

  outline(): CommandOutline {
    for (const path of this.#reads)
      if (this.#isInMadeFolder(path)) this.addOpaque('dynamic_argument', path);
    return {
      programs: this.programs,
      reads: this.#withLinked(this.#reads),
      trees: this.#withLinked([...this.#trees, ...this.#linkedIn(this.#trees)]),
      writes: [...new Set([...this.#withLinked(this.#writes), ...this.#linkPaths])],
      removes: this.#withLinked(this.#removes),
      puts: this.#puts.flatMap((put) => this.#withLinked([put.to]).map((to) => ({ ...put, to }))),
      hosts: [...this.#hosts],
      paths: [...new Set([...this.#withLinked(this.#paths), ...this.#linkPaths])],
      opaque: [...this.#opaque.values()],
    };
  }

  /** `git clone x y; cat y/.e*`: the disk does not tell yet what the pattern stands for. */
  #isInMadeFolder(path: string): boolean {
    const [, folder] = /^([^*?[]+)\/\.[^/]*[*?[][^/]*$/s.exec(path) ?? [];
    if (folder === undefined) return false;
    return [...this.#writes].some((made) => folder === made || folder.startsWith(`${made}/`));
  }

  /** A link of the line may be made before a path goes through it, whatever the order in which they are written. */
  #withLinked(paths: Iterable<string>): readonly string[] {
    if (this.#links.size === 0) return [...paths];
    const all = [...paths].flatMap((path) => {
      // A pattern may stand for a link that is not there yet.
      if (/[*?[]/.test(path.slice(0, Math.max(0, path.lastIndexOf('/')))))
        this.addOpaque('dynamic_argument', path);
      return [path, ...this.#links.through(path)];
    });
    return [...new Set(all)];
  }

  /** Some programs follow the links in a folder. */
  #linkedIn(trees: Iterable<string>): readonly string[] {
    return [...trees].flatMap((tree) => this.#links.below(tree));
  }

  get isFull(): boolean {
    return this.#charsLeft < 0 || this.programs.length >= PROGRAMS_MAX;
  }

  /** Whether there is room for a text of this length. */
  #takes(length: number): boolean {
    if (this.#charsLeft >= 0) this.#charsLeft -= length + FOUND_COST;
    if (this.#charsLeft < 0) this.addOpaque('too_large', '');
    return this.#charsLeft >= 0;
  }

  /** Whether the line writes a file that it names in one of these folders. */
  isWritten(path: string, folders: WorkingFolders): boolean {
    const found = folders.current.map((folder) => pathIn(folder || '.', path));
    return [path, ...found].some((one) => {
      if (!/[*?[]/.test(one)) return this.#writes.has(one) || this.#writesPlain(one);
      const glob = compileGlob(one.replaceAll('**/', '*'));
      return !glob.ok || [...this.#writes].some((written) => glob.test(pathIn('.', written)));
    });
  }

  /** `src//x` and `src/a/../x` are `src/x`. */
  #writesPlain(path: string): boolean {
    const plain = pathIn('.', path);
    return [...this.#writes].some((written) => pathIn('.', written) === plain);
  }

  addOpaque(why: OpaqueReason, text: string): void {
    if (this.#opaque.size >= OPAQUE_MAX) return;
    const shown = shownText(text);
    const short = shown.length > OPAQUE_TEXT_MAX ? `${shown.slice(0, OPAQUE_TEXT_MAX)}…` : shown;
    this.#opaque.set(`${why} ${short}`, { why, text: short });
  }

  /** Notes that all files in a folder are read. */
  addTree(text: string, folders: WorkingFolders): void {
    if (text === '-' || STREAM.test(text) || hostOfUrl(text) !== undefined) return;
    for (const path of placed(shownText(text), folders)) this.#trees.add(path);
  }

  /** Notes that a path is gone afterwards. One that only the running shell knows is opaque as it is. */
  addRemoved(text: string, folders: WorkingFolders): void {
    if (text === '' || text.includes(UNKNOWN)) return;
    for (const path of placed(text, folders)) {
      if (this.#takes(path.length)) this.#removes.add(path);
    }
  }

  /** Notes what is put where. */
  addPut({ from, to }: PutPath, folders: WorkingFolders): void {
    if (to === '' || to.includes(UNKNOWN) || from?.includes(UNKNOWN) === true) return;
    for (const folder of folders.current.length === 0 ? [''] : folders.current) {
      const place = (path: string) => (folder === undefined ? path : pathIn(folder, path));
      const put = { from: from === undefined ? undefined : place(from), to: place(to) };
      // `cp -P` copies a link, and `mv` moves it.
      if (put.from !== undefined) this.#links.copy(put.from, put.to);
      if (this.#takes((put.from?.length ?? 0) + put.to.length)) this.#puts.push(put);
    }
  }

  /** Notes that the line makes a link, and what it points to. */
  addLink(link: string, target: string, folders: WorkingFolders): void {
    if (`${link}${target}`.includes(UNKNOWN)) this.addOpaque('dynamic_argument', link);
    if (this.#links.size >= LINKS_MAX) return this.addOpaque('too_large', link);
    for (const path of placed(shownText(link), folders)) this.#links.add(path, shownText(target));
  }

  /** Notes that a link is made here: not what it points to is written. */
  addLinkPath(link: string, folders: WorkingFolders): void {
    for (const path of placed(shownText(link), folders)) this.#linkPaths.add(path);
  }

  addHost(host: string): void {
    if (host !== '' && this.#takes(host.length)) this.#hosts.add(shownText(host));
  }

  /** Notes what is done with one text. */
  add(role: Role, text: string, folders: WorkingFolders): void {
    if (role === 'none' || text === '') return;
    if (text.includes(UNKNOWN) && role !== 'maybe_path') this.addOpaque('dynamic_argument', text);
    const url = hostOfUrl(text);
    if (role === 'package') return this.#addPackage(text, folders);
    if (role === 'setting') return this.#addSetting(text, folders);
    if (url !== undefined) {
      this.addHost(url);
      for (const path of filesInUrl(text))
        this.#addPath(role === 'write' ? 'write' : 'read', path, folders);
      return;
    }
    if (role === 'page') this.#addPath('read', text, folders);
    if (role === 'url' || role === 'host' || role === 'page') {
      // `-o ProxyJump=host`, `host:port`.
      const host = hostAlone(text.replace(/^\w+=/, ''));
      if (host !== undefined) this.addHost(host);
      return;
    }
    if (role === 'remote_read' || role === 'remote_write' || role === 'repository') {
      const host = hostOfRemote(text);
      if (host !== undefined) return this.addHost(host);
      if (role === 'repository') return this.#addRepository(text, folders);
    }
    if (role === 'revision_read' || role === 'revision_write') {
      return this.#addRevision(role === 'revision_write' ? 'write' : 'read', text, folders);
    }
    if (role === 'maybe_write' && PATHISH.test(text)) this.#addPath('write', text, folders);
    const isWrite = WRITING.has(role);
    if (role === 'change' || role === 'move') this.#addPath('read', text, folders);
    if (role === 'remove' || role === 'move') this.addRemoved(text, folders);
    if (role === 'maybe_path' && !PATHISH.test(text)) return;
    if (role === 'path' || role === 'maybe_path') this.#addPath('path', text, folders);
    else this.#addPath(isWrite ? 'write' : 'read', text, folders);
  }

  /** The name of a remote is no path, but a folder is. */
  #addRepository(text: string, folders: WorkingFolders): void {
    if (/[/~]|^\.\.?$/.test(text)) this.#addPath('read', text, folders);
  }

  /** `git+https://…`, `./folder`, `file.tgz`. */
  #addPackage(text: string, folders: WorkingFolders): void {
    const address = text.replace(/^(?:[\w@/.-]+ ?@ ?)?(?:git|hg|svn)\+/i, '');
    const host = hostOfUrl(address) ?? (/^github:/i.test(text) ? 'github.com' : undefined);
    if (host !== undefined) this.addHost(host);
    else if (/^(?:\.{1,2}(?:\/|$)|[/~]|file:)|\.(?:tgz|whl|tar\.gz|zip|gem|deb|rpm)$/.test(text)) {
      this.#addPath('read', text.replace(/^file:(?:\/\/)?/, ''), folders);
    }
  }

  #addRevision(how: 'read' | 'write', text: string, folders: WorkingFolders): void {
    const [, magic, ofRevision] = /^:(?:\([^)]*\)|[/!^]+)(.*)$|^[^:]*:(.+)$/s.exec(text) ?? [];
    const path = magic ?? ofRevision ?? text;
    if (ofRevision !== undefined) this.#addPath('read', path, folders);
    else if (magic !== undefined || !isRevision(text)) this.#addPath(how, path, folders);
  }

  /** `if=/etc/passwd`, `@file`, `name=@file`, `type=bind,source=/etc`. */
  #addSetting(text: string, folders: WorkingFolders): void {
    for (const part of text.split(',')) {
      const sign = part.indexOf('=');
      const key = part.slice(0, Math.max(0, sign));
      const value = part.slice(sign + 1).replace(/^[@<]/, '');
      const isFile = /^[@<]/.test(part.slice(sign + 1));
      const [, named] = (sign === -1 ? /^%?[\w.-]+@(.+)$/s.exec(part) : undefined) ?? [];
      if (named !== undefined) this.#addPath('read', named, folders);
      const host = hostOfUrl(value);
      // `file://a.json` of `aws` is a relative path.
      const [, file] = /^fileb?:\/\/(.+)$/is.exec(value) ?? [];
      if (file !== undefined) this.#addPath('read', file, folders);
      else if (host !== undefined) this.addHost(host);
      else if (key === 'of') this.#addPath('write', value, folders);
      else if (/^(?:if|src|source|file)$/.test(key) || isFile)
        this.#addPath('read', value, folders);
      else if (/^[/~.]/.test(value)) this.#addPath('read', value.split(':', 1)[0] ?? '', folders);
    }
  }

  #addPath(how: 'read' | 'write' | 'path', text: string, folders: WorkingFolders): void {
    if (text === '-' || STREAM.test(text)) return;
    const socket = hostOfSocket(text);
    if (socket !== undefined) return this.addHost(socket);
    if (/^~(?:-|[+]?\d)/.test(text)) this.addOpaque('dynamic_argument', text);
    const written = shownText(text).replace(/^~[+](?=\/|$)/, '.');
    for (const path of placed(written, folders)) {
      for (const one of [path, ...this.#elsewhere(path)]) {
        if (!this.#takes(one.length)) return;
        this.#paths.add(one);
        if (how === 'read') this.#reads.add(one);
        else if (how === 'write') this.#writes.add(one);
      }
    }
  }

  #elsewhere(path: string): readonly string[] {
    const pattern = zshPattern(path);
    const patterns = pattern === path ? [] : [pattern];
    if (this.homes.size === 0 || !/^~(?:\/|$)/.test(path)) return patterns;
    return [...patterns, ...[...this.homes].map((home) => home + path.slice(1))];
  }
}

/** Whether a text is the name of a revision, and not one of a file. */
function isRevision(text: string): boolean {
  return REVISION.test(text);
}

/** A path from where the script starts, in each folder that it may be in. */
function placed(path: string, { current }: WorkingFolders): readonly string[] {
  const folders = current.length === 0 ? [''] : current;
  return folders.map((folder) => (folder === undefined ? path : pathIn(folder, path)));
}

/** A part that only the running shell knows is shown as a wildcard. */
export function shownText(text: string): string {
  return text.replaceAll(UNKNOWN, '*');
}
