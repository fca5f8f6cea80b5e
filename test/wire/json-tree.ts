// A strict JSON parser that keeps what `JSON.parse` loses: the order of members and repeated keys.
// Written apart from the product, so that a defect there is not repeated here.

export type Tree =
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Tree])[] }
  | { readonly kind: 'array'; readonly items: readonly Tree[] }
  | { readonly kind: 'scalar'; readonly value: string | number | boolean | null };

interface ParsedTree {
  readonly tree: Tree;
  /** Behind the value. */
  readonly end: number;
}

export interface ParseOptions {
  /** Takes raw control characters inside of strings, as many streaming parsers do. */
  readonly rawControls?: boolean;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const LOOSE_STRING = /"(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const WORDS = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class SyntaxFault extends Error {}

class TreeParser {
  at: number;
  private readonly text: string;
  private readonly string: RegExp;

  constructor(text: string, at: number, { rawControls = false }: ParseOptions) {
    this.text = text;
    this.at = at;
    this.string = rawControls ? LOOSE_STRING : STRING;
  }

  value(): Tree {
    this.space();
    const first = this.text[this.at];
    if (first === '{') return this.object();
    if (first === '[') return this.array();
    if (first === '"') return { kind: 'scalar', value: this.key() };
    for (const [word, value] of WORDS) {
      if (!this.text.startsWith(word, this.at)) continue;
      this.at += word.length;
      return { kind: 'scalar', value };
    }
    return { kind: 'scalar', value: Number(this.match(NUMBER)) };
  }

  private object(): Tree {
    const members: (readonly [string, Tree])[] = [];
    this.at++;
    if (this.takes('}')) return { kind: 'object', members };
    do {
      this.space();
      const key = this.key();
      if (!this.takes(':')) throw new SyntaxFault(`no colon at ${this.at}`);
      members.push([key, this.value()]);
    } while (this.takes(','));
    if (!this.takes('}')) throw new SyntaxFault(`no end of an object at ${this.at}`);
    return { kind: 'object', members };
  }

  private array(): Tree {
    const items: Tree[] = [];
    this.at++;
    if (this.takes(']')) return { kind: 'array', items };
    do items.push(this.value());
    while (this.takes(','));
    if (!this.takes(']')) throw new SyntaxFault(`no end of an array at ${this.at}`);
    return { kind: 'array', items };
  }

  private key(): string {
    const literal = this.match(this.string);
    const escaped = literal.replaceAll(
      /[\u0000-\u001f]/g,
      (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return String(JSON.parse(escaped));
  }

  private takes(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  space(): void {
    this.match(SPACE);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw new SyntaxFault(`nothing that fits at ${this.at}`);
    this.at += found.length;
    return found;
  }
}

/** The value that begins here; undefined where none does. */
export function parseTreeAt(
  text: string,
  at: number,
  options: ParseOptions = {},
): ParsedTree | undefined {
  const parser = new TreeParser(text, at, options);
  try {
    const tree = parser.value();
    return { tree, end: parser.at };
  } catch (cause) {
    // A text that nests without end is no message for any reader.
    if (cause instanceof SyntaxFault || cause instanceof RangeError) return undefined;
    throw cause;
  }
}

/** The one value of a text; undefined when it holds anything else. */
export function parseTree(text: string): Tree | undefined {
  const parsed = parseTreeAt(text, 0);
  return parsed !== undefined && /^[ \t\r\n]*$/.test(text.slice(parsed.end))
    ? parsed.tree
    : undefined;
}
