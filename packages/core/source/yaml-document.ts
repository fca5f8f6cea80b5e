// Text → one YAML document. The yaml package is driven step by step, so that hostile text is
// refused as soon as it is too deep, too long or too wrong, instead of after seconds of work.
import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import { quote, visible } from '../text/visible.ts';
import type { Fault } from './problem.ts';

type DocumentResult =
  | { readonly ok: true; readonly document: Document.Parsed | undefined }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Deeper than any bundle, and shallow enough for every recursion that follows. */
export const DEPTH_MAX = 64;
/** Aliases included: nine lists of nine aliases each are a third of a billion nodes. */
export const NODES_MAX = 100_000;
/** Every bracket, word, space and line end is a lexeme: a node has about six. */
const LEXEMES_MAX = 6 * NODES_MAX;
/** As much as a file holds without aliases: one long text has room for thousands of uses. */
export const CHARS_MAX = 1_048_576;
const SPLIT_IT = 'Split the bundle.';
const FEWER = 'Use fewer aliases.';
/** After this many errors the rest is noise. */
const FAULTS_MAX = 20;

/** Ends the work of the yaml package from inside one of its callbacks. */
class StopReading extends Error {}

class YamlReading {
  readonly faults: Fault[] = [];
  document: CST.Document | undefined;

  add(fault: Fault): void {
    if (this.faults.length >= FAULTS_MAX) throw new StopReading();
    this.faults.push(fault);
  }

  stop(fault: Fault): never {
    this.faults.push(fault);
    throw new StopReading();
  }

  /** Takes one finished part of the stream; a bundle is one document without directives. */
  take(token: CST.Token): void {
    if (token.type === 'error') this.add(syntaxFault(token.offset, token.message));
    if (token.type === 'directive') {
      const message = 'YAML directives are not supported';
      this.add({ code: 'SUB_BUNDLE_SYNTAX', offset: token.offset, message, fix: 'Remove it.' });
    }
    if (token.type !== 'document') return;
    if (this.document === undefined) this.document = token;
    else {
      const message = 'a second document starts here; a file holds one bundle';
      const fix = 'Remove the `---` line, or move what follows to a file of its own.';
      this.stop({ code: 'SUB_BUNDLE_SYNTAX', offset: token.offset, message, fix });
    }
  }
}

/** Reads the one document of a text; no document at all when there is only white space. */
export function readDocument(text: string): DocumentResult {
  const reading = new YamlReading();
  const parser = new Parser();
  let document: Document.Parsed | undefined;
  try {
    parse(text, parser, reading);
    if (reading.faults.length === 0 && reading.document !== undefined) {
      document = compose(reading.document, reading, text);
    }
  } catch (cause) {
    // Whatever the yaml package throws is an answer to hostile text, and this is where it stood.
    if (!(cause instanceof StopReading)) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      reading.faults.push(syntaxFault(parser.offset, `this cannot be read: ${reason}`));
    }
  }
  const { faults } = reading;
  return faults.length === 0
    ? { ok: true, document }
    : { ok: false, faults: firstOfCascade(faults, text) };
}

function parse(text: string, parser: Parser, reading: YamlReading): void {
  const counts = { lexemes: 0, brackets: 0, dashes: 0 };
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) reading.take(token);
    // One entry is the document, and one may be a scalar that is still being read.
    if (parser.stack.length > DEPTH_MAX + 2) reading.stop(excessFault('depth', parser.offset));
    counts.lexemes++;
    // Each of these is a value for certain, and they are the dearest to parse.
    if (lexeme === '[' || lexeme === '{') counts.brackets++;
    else if (lexeme === '-') counts.dashes++;
    const { lexemes, brackets, dashes } = counts;
    if (lexemes > LEXEMES_MAX) reading.stop(excessFault('lexemes', parser.offset));
    if (brackets > NODES_MAX || dashes > NODES_MAX)
      reading.stop(excessFault('nodes', parser.offset));
  }
  for (const token of parser.end()) reading.take(token);
}

function compose(
  token: CST.Document,
  reading: YamlReading,
  text: string,
): Document.Parsed | undefined {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    intAsBigInt: true,
    // Looked for when the tree is built; here every pair of keys would be compared.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  // The package collects one error object per error, a million of them if need be; ours stops.
  composer['onError'] = (source: ErrorSource, code: string, message: string) => {
    reading.add(syntaxFault(offsetOf(source), message, { code, text }));
  };
  const [document] = [...composer.next(token), ...composer.end()];
  for (const error of document?.errors ?? []) {
    reading.add(syntaxFault(error.pos[0], error.message, { code: error.code, text }));
  }
  return document;
}

type ErrorSource = number | readonly number[] | { readonly offset: number };

function offsetOf(source: ErrorSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}

const EACH_USE = 'counting each use of an alias';
const EXCESSES = {
  depth: ['SUB_BUNDLE_TOO_DEEP', `nested deeper than ${DEPTH_MAX} levels`, 'Flatten it.'],
  lexemes: ['SUB_BUNDLE_TOO_LARGE', `more than ${LEXEMES_MAX} words, signs and blanks`, SPLIT_IT],
  nodes: ['SUB_BUNDLE_TOO_LARGE', `more than ${NODES_MAX} values`, SPLIT_IT],
  aliases: ['SUB_BUNDLE_TOO_DEEP', `more than ${NODES_MAX} values, ${EACH_USE}`, FEWER],
  chars: ['SUB_BUNDLE_TOO_LARGE', `more than ${CHARS_MAX} characters, ${EACH_USE}`, FEWER],
} as const;

/** What is too deep, too long or too much. */
export function excessFault(what: keyof typeof EXCESSES, offset: number): Fault {
  const [code, message, fix] = EXCESSES[what];
  return { code, offset, message, fix };
}

// What the yaml package refuses, in words that name the likely fix.

const FIXES: ReadonlyMap<string, string> = new Map([
  ['BAD_INDENT', 'Align this line with its siblings, by spaces.'],
  ['TAB_AS_INDENT', 'Replace tabs by spaces.'],
  ['MISSING_CHAR', 'Add what is missing; text with special characters needs quotes.'],
  ['BAD_DQ_ESCAPE', 'Double the backslash, or use single quotes.'],
  ['BLOCK_AS_IMPLICIT_KEY', 'Put quotes around text that has `: ` in it.'],
  ['BAD_SCALAR_START', 'Put quotes around the text.'],
  ['MULTILINE_IMPLICIT_KEY', 'Check for a missing `:` or a wrong indentation.'],
  ['TAG_RESOLVE_FAILED', 'Put quotes around it if it is text, else remove the tag.'],
  ['UNEXPECTED_TOKEN', 'Put quotes around text that has `*`, `[`, `{` or other signs in it.'],
]);

/** The yaml package's names for signs, as a reader knows them. */
const SIGNS: { readonly [name: string]: string } = {
  'map-value-ind': '`:`',
  'seq-item-ind': '`-`',
  'explicit-key-ind': '`?`',
  'flow-map-start': '`{`',
  'flow-map-end': '`}`',
  'flow-seq-start': '`[`',
  'flow-seq-end': '`]`',
  'flow-error-end': 'end of a bracket',
  comma: '`,`',
  scalar: 'text',
  'single-quoted-scalar': 'quoted text',
  'double-quoted-scalar': 'quoted text',
  'block-scalar': 'block of text',
};

/** `yaml` is the code of the package's error, and the text that it is about. */
function syntaxFault(offset: number, reason: string, yaml = { code: '', text: '' }): Fault {
  const { code: yamlCode, text } = yaml;
  const fault = { code: 'SUB_BUNDLE_SYNTAX', offset, yamlCode } as const;
  const better = betterWords(reason, yamlCode, text.slice(offset, offset + 200));
  if (better !== undefined) return { ...fault, ...better };
  const plain = reason
    .replace(/^Unexpected ([a-z-]+)( token)?/, (whole, name: string) => {
      const sign = Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined;
      return sign === undefined ? whole : `unexpected ${sign}`;
    })
    .replace(/ in YAML (stream|document)/, ' here');
  const message = visible(plain.charAt(0).toLowerCase() + plain.slice(1), 200);
  const fix = FIXES.get(yamlCode) ?? 'Check the indentation, quotes and brackets here.';
  return { ...fault, message, fix };
}

type YamlAdvice = Pick<Fault, 'message' | 'fix'>;

/** Other words for errors that the yaml package describes in the words of its grammar. */
function betterWords(reason: string, yamlCode: string, source: string): YamlAdvice | undefined {
  const line = /^[^\r\n]*/.exec(source)?.[0] ?? '';
  if (yamlCode === 'BAD_ALIAS' && line.startsWith('*')) {
    return unquotedStar(/^[^\s,\]}]+/.exec(line)?.[0] ?? '*');
  }
  if (yamlCode === 'UNEXPECTED_TOKEN' && line.startsWith(',')) {
    return { message: 'nothing stands before this `,`', fix: 'Remove it, or add the value.' };
  }
  const close = /must (?:be sufficiently indented and )?end with a ([\]}])$/.exec(reason)?.[1];
  if (close !== undefined) {
    const message = `a \`${close === ']' ? '[' : '{'}\` above has no \`${close}\``;
    return { message, fix: `Add the \`${close}\`, or indent it.` };
  }
  const quoteSign = /^Missing closing (["'])/.exec(reason)?.[1];
  if (quoteSign !== undefined) {
    return { message: `a \`${quoteSign}\` has no closing one`, fix: 'Close the quote.' };
  }
  if (reason.includes('without - indicator')) {
    const message = 'this line neither belongs to the item above nor starts one';
    return { message, fix: 'Align it with the lines above, or start it with `- `.' };
  }
  if (yamlCode !== 'MULTILINE_IMPLICIT_KEY' || line.includes(': ')) return undefined;
  const fix = /^[\w-]+:\S/.test(line)
    ? 'Put a space behind the `:`.'
    : 'Put a `: ` behind the name.';
  return { message: `${quote(line.trimEnd())} is no \`name: value\``, fix };
}

/** A glob whose star YAML takes for its own sign. */
export function unquotedStar(written: string): YamlAdvice {
  const message = `${quote(written)} without quotes is a YAML alias, and has no anchor above it`;
  return { message, fix: `Put quotes around it: \`"${visible(written, 60)}"\`.` };
}

/** After one of these errors, the parser misreads the rest of the file. */
const CASCADING: ReadonlySet<string> = new Set(
  `BAD_INDENT TAB_AS_INDENT MISSING_CHAR BLOCK_AS_IMPLICIT_KEY MULTILINE_IMPLICIT_KEY BLOCK_IN_FLOW
   BAD_COLLECTION_TYPE UNEXPECTED_TOKEN`.split(/\s+/),
);

/** The faults up to the first from which others follow. */
function firstOfCascade(faults: readonly Fault[], text: string): readonly Fault[] {
  const inOrder = faults.toSorted((one, other) => one.offset - other.offset);
  const at = inOrder.findIndex(({ yamlCode = '' }) => CASCADING.has(yamlCode));
  const first = inOrder[at];
  if (first === undefined) return inOrder;
  return [...inOrder.slice(0, at), deeperLine(inOrder, first.offset, text) ?? first];
}

/** A value that would have to be a key of several lines: the line below it is indented too far. */
function deeperLine(faults: readonly Fault[], offset: number, text: string): Fault | undefined {
  const at = faults.filter((fault) => fault.offset === offset);
  const here = new Set(at.map(({ yamlCode }) => yamlCode));
  if (!here.has('BLOCK_AS_IMPLICIT_KEY') || !here.has('MULTILINE_IMPLICIT_KEY')) {
    return undefined;
  }
  const below = /\n[\t\r\n ]*(?=[^\s])/g;
  below.lastIndex = offset;
  const found = below.exec(text);
  if (found === null) return undefined;
  const message = 'this line is indented deeper than the one above, which already has its value';
  const fix = 'Align it with the line above.';
  return { code: 'SUB_BUNDLE_SYNTAX', offset: below.lastIndex, message, fix };
}
