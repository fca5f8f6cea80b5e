// Runs a regular expression by plain backtracking and counts its steps: the engine of the language tells
// no count, and its time depends on the machine.

type Next = (at: number) => boolean;
type Matcher = (at: number, next: Next) => boolean;

interface Piece {
  readonly match: Matcher;
  /** No more units than this are matched. */
  readonly unitsMax: number;
}

/** How many steps an attempt takes that begins here, and where it ends, or -1. */
type Attempt = (text: string, at: number) => { readonly steps: number; readonly end: number };

const NONE: Piece = { match: (at, next) => next(at), unitsMax: 0 };
/** Enough for what a look behind reads. */
const UNITS_MAX = 1_000;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\?)?/y;
const GROUP = /\((?:\?(?::|(<?[=!])|<(\w+)>))?/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|k<(\w+)>|.)/iy;

export function countedRegex({ source, flags }: RegExp): Attempt {
  let text = '';
  let steps = 0;
  let index = 0;
  let groups = 0;
  const saved = new Map<string, string>();
  const anyCase = flags.includes('i') ? 'i' : '';

  const read = (pattern: RegExp) => {
    pattern.lastIndex = index;
    const found = pattern.exec(source);
    if (found !== null) index = pattern.lastIndex;
    return found;
  };

  function alternatives(): Piece {
    const branches = [sequence()];
    while (source[index] === '|') {
      index++;
      branches.push(sequence());
    }
    if (branches.length === 1) return branches[0] ?? NONE;
    return {
      match: (at, next) => branches.some(({ match }) => match(at, next)),
      unitsMax: Math.max(...branches.map(({ unitsMax }) => unitsMax)),
    };
  }

  function sequence(): Piece {
    const pieces: Piece[] = [];
    while (index < source.length && source[index] !== '|' && source[index] !== ')') {
      pieces.push(repeated(atom()));
    }
    return {
      match: pieces.reduceRight<Matcher>(
        (rest, { match }) =>
          (at, next) =>
            match(at, (behind) => rest(behind, next)),
        (at, next) => next(at),
      ),
      unitsMax: pieces.reduce((sum, { unitsMax }) => sum + unitsMax, 0),
    };
  }

  function repeated(piece: Piece): Piece {
    const found = read(QUANTIFIER);
    if (found === null) return piece;
    const [, sign, least = '', comma, most = '', lazy] = found;
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
    const bound = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most);
    const max = sign === undefined ? bound : sign === '?' ? 1 : Number.POSITIVE_INFINITY;
    const match = (count: number, at: number, next: Next): boolean => {
      const more = () =>
        count < max &&
        piece.match(at, (to) => (to > at || count < min) && match(count + 1, to, next));
      if (count < min) return more();
      return lazy === undefined ? more() || next(at) : next(at) || more();
    };
    const unitsMax = Math.min(UNITS_MAX, max * piece.unitsMax);
    return { match: (at, next) => match(0, at, next), unitsMax };
  }

  function unit(isOne: (char: string) => boolean): Piece {
    return {
      match(at, next) {
        if (at >= text.length || !isOne(text[at] ?? '')) return false;
        steps++;
        return next(at + 1);
      },
      unitsMax: 1,
    };
  }

  function literal(char: string): Piece {
    const lower = char.toLowerCase();
    const { match } = unit(
      (other) => other === char || (anyCase !== '' && other.toLowerCase() === lower),
    );
    return { match, unitsMax: 1 };
  }

  function ofClass(pattern: string): Piece {
    const one = new RegExp(`^${pattern}$`, `s${anyCase}`);
    const known = new Map<string, boolean>();
    return unit((char) => {
      const isOne = known.get(char) ?? one.test(char);
      known.set(char, isOne);
      return isOne;
    });
  }

  function atom(): Piece {
    const char = source[index] ?? '';
    if (char === '(') return group();
    if (char === '[') return ofClass(read(CLASS)?.[0] ?? '');
    if (char === '\\') return escape();
    index++;
    if (char === '^') return { ...NONE, match: (at, next) => at === 0 && next(at) };
    if (char === '$') return { ...NONE, match: (at, next) => at === text.length && next(at) };
    return char === '.' ? ofClass('.') : literal(char);
  }

  function escape(): Piece {
    const [written = '', name] = read(ESCAPE) ?? [];
    if (name !== undefined || /^\\[1-9]$/.test(written)) return sameAs(name ?? written.slice(1));
    if (/^\\[wWdDsS]$/.test(written)) return ofClass(written);
    if (written === '\\b') {
      const edge = /\b/y;
      const isEdge = (at: number) => {
        edge.lastIndex = at;
        return edge.test(text);
      };
      return { ...NONE, match: (at, next) => isEdge(at) && next(at) };
    }
    if (written === '\\n') return literal('\n');
    return /^\\[ux]/.test(written)
      ? literal(String.fromCharCode(Number.parseInt(written.slice(2), 16)))
      : literal(written.slice(1));
  }

  function sameAs(name: string): Piece {
    const match: Matcher = (at, next) => {
      const value = saved.get(name) ?? '';
      const isSame = text.slice(at, at + value.length).toLowerCase() === value.toLowerCase();
      if (isSame) steps++;
      return isSame && next(at + value.length);
    };
    return { match, unitsMax: UNITS_MAX };
  }

  function group(): Piece {
    const [opening = '', look, name] = read(GROUP) ?? [];
    const number = opening === '(' || name !== undefined ? String(++groups) : undefined;
    const inner = alternatives();
    index++;
    if (look !== undefined) return lookaround(inner, look);
    if (number === undefined) return inner;
    const match: Matcher = (at, next) =>
      inner.match(at, (to) => {
        saved.set(name ?? number, text.slice(at, to));
        return next(to);
      });
    return { ...inner, match };
  }

  function lookaround({ match, unitsMax }: Piece, sign: string): Piece {
    const isWanted = sign.endsWith('=');
    const behind = (at: number) => {
      for (let from = at; from >= Math.max(0, at - unitsMax); from--) {
        if (match(from, (to) => to === at)) return true;
      }
      return false;
    };
    const ahead = (at: number) => match(at, () => true);
    const holds = sign.startsWith('<') ? behind : ahead;
    return {
      match: (at, next) => holds(at) === isWanted && next(at),
      unitsMax: 0,
    };
  }

  const whole = alternatives();
  return (given, at) => {
    text = given;
    steps = 0;
    let end = -1;
    whole.match(at, (to) => {
      end = to;
      return true;
    });
    return { steps, end };
  };
}
