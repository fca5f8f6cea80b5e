// Other files that a written path may stand for: through links that the line makes, and by patterns of zsh.
import { pathIn } from './folders.ts';

/** Links that are followed in one path. */
const STEPS_MAX = 4;

/** The links that a line makes, with what they point to. Both are paths from where the line starts. */
export class MadeLinks {
  readonly #targets = new Map<string, string>();

  get size(): number {
    return this.#targets.size;
  }

  /** A target is relative to the folder of its link. */
  add(link: string, target: string): void {
    const path = plainPath(link);
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) || '/' : '.';
    this.#targets.set(path, pathIn(folder, target).replace(/\/$/, ''));
  }

  /** A link that is copied or moved, under its new name or into a folder. */
  copy(from: string, to: string): void {
    const path = plainPath(from);
    const target = this.#targets.get(path);
    if (target === undefined) return;
    const place = plainPath(to);
    for (const one of [place, `${place}/${path.replace(/^.*\//s, '')}`])
      this.#targets.set(one, target);
  }

  /** The other paths that a path is, if it goes through links. */
  through(path: string): readonly string[] {
    const found = new Set<string>();
    let last: readonly string[] = [path];
    for (let step = 0; step < STEPS_MAX && last.length > 0; step++) {
      const next = last.flatMap((one) => this.#oneStep(one)).filter((one) => !found.has(one));
      for (const one of next) found.add(one);
      last = next;
    }
    return [...found];
  }

  #oneStep(path: string): readonly string[] {
    const plain = plainPath(path);
    return [...this.#targets].flatMap(([link, target]) => {
      if (plain === link) return [target || '/'];
      return plain.startsWith(`${link}/`) ? [`${target}${plain.slice(link.length)}`] : [];
    });
  }

  /** What the links in a folder point to. */
  below(folder: string): readonly string[] {
    const plain = plainPath(folder);
    return [...this.#targets].flatMap(([link, target]) =>
      plain === '' || link.startsWith(`${plain}/`) ? [target] : [],
    );
  }
}

/** A path without `.` and doubled slashes; `..` stays, because a link may stand before it. */
function plainPath(path: string): string {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return (path.startsWith('/') ? '/' : '') + names.join('/');
}

/** `.e^x`, `.e*~x`, `.en#v`: with EXTENDED_GLOB these are patterns to zsh. */
const ZSH_MANY = /\w#(?=\w)/g;

export function zshPattern(path: string): string {
  return /[\^~#]/.test(path) ? path.split('/').map(zshName).join('/') : path;
}

function zshName(name: string): string {
  const not = name.indexOf('^');
  if (not !== -1 && not < name.length - 1) return `${name.slice(0, not)}*`;
  const except = name.indexOf('~', 1);
  const start = name.slice(0, Math.max(0, except));
  const isExcept = /[*?[]/.test(start) && except < name.length - 1;
  return (isExcept ? start : name).replace(ZSH_MANY, '*');
}
