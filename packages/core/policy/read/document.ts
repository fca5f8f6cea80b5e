// Text → one YAML document. The yaml package is driven step by step, so that hostile text is
// refused as soon as it is too deep, too long or too wrong, instead of after seconds of work.
import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import type { Fault } from './finding.ts';
import { firstOfCascade, type SyntaxFault, syntaxFault } from './syntax.ts';

type DocumentResult =
  | { readonly ok: true; readonly document: Document.Parsed | undefined }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Deeper than any bundle, and shallow enough for every recursion that follows. */
export const DEPTH_MAX = 64;
/** Aliases included: nine lists of nine aliases each are a third of a billion nodes. */
export const NODES_MAX = 100_000;
/** Every bracket, word, space and line end is a lexeme: a node has about six. */
const LEXEMES_MAX = 6 * NODES_MAX;
/** After this many errors the rest is noise. */
const FAULTS_MAX = 20;

/** Ends the work of the yaml package from inside one of its callbacks. */
class Stop extends Error {}

class Reading {
  readonly faults: (Fault | SyntaxFault)[] = [];
  #document: CST.Document | undefined;

  add(fault: Fault | SyntaxFault): void {
    if (this.faults.length >= FAULTS_MAX) throw new Stop();
    this.faults.push(fault);
  }

  stop(fault: Fault): never {
    this.faults.push(fault);
    throw new Stop();
  }

  get document(): CST.Document | undefined {
    return this.#document;
  }

  /** Takes one finished part of the stream; a bundle is one document without directives. */
  take(token: CST.Token): void {
    if (token.type === 'error') this.add(syntaxFault(token.offset, token.message));
    if (token.type === 'directive') {
      const message = 'YAML directives are not supported';
      this.add({ code: 'SUB_BUNDLE_SYNTAX', offset: token.offset, message, fix: 'Remove it.' });
    }
    if (token.type !== 'document') return;
    if (this.#document === undefined) this.#document = token;
    else {
      const message = 'a second document starts here; a file holds one bundle';
      const fix = 'Remove the `---` line, or move what follows to a file of its own.';
      this.stop({ code: 'SUB_BUNDLE_SYNTAX', offset: token.offset, message, fix });
    }
  }
}

/** Reads the one document of a text; no document at all when there is only white space. */
export function readDocument(text: string): DocumentResult {
  const reading = new Reading();
  const parser = new Parser();
  let document: Document.Parsed | undefined;
  try {
    parse(text, parser, reading);
    if (reading.faults.length === 0 && reading.document !== undefined) {
      document = compose(reading.document, { reading, text });
    }
  } catch (cause) {
    // Whatever the yaml package throws is an answer to hostile text, and this is where it stood.
    if (!(cause instanceof Stop)) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      reading.faults.push(syntaxFault(parser.offset, `this cannot be read: ${reason}`));
    }
  }
  const { faults } = reading;
  return faults.length === 0
    ? { ok: true, document }
    : { ok: false, faults: firstOfCascade(faults, text) };
}

function parse(text: string, parser: Parser, reading: Reading): void {
  const counts = { lexemes: 0, brackets: 0, dashes: 0 };
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) reading.take(token);
    // One entry is the document, and one may be a scalar that is still being read.
    if (parser.stack.length > DEPTH_MAX + 2) reading.stop(depthFault(parser.offset));
    counts.lexemes++;
    // Each of these is a value for certain, and they are the dearest to parse.
    if (lexeme === '[' || lexeme === '{') counts.brackets++;
    else if (lexeme === '-') counts.dashes++;
    const { lexemes, brackets, dashes } = counts;
    if (lexemes > LEXEMES_MAX) reading.stop(lexemesFault(parser.offset));
    if (brackets > NODES_MAX || dashes > NODES_MAX) reading.stop(nodesFault(parser.offset));
  }
  for (const token of parser.end()) reading.take(token);
}

interface Composing {
  readonly reading: Reading;
  readonly text: string;
}

function compose(token: CST.Document, { reading, text }: Composing): Document.Parsed | undefined {
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
  const documents = [...composer.next(token), ...composer.end()];
  const [document] = documents;
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

export function depthFault(offset: number): Fault {
  const message = `nested deeper than ${DEPTH_MAX} levels`;
  return { code: 'SUB_BUNDLE_TOO_DEEP', offset, message, fix: 'Flatten it.' };
}

function lexemesFault(offset: number): Fault {
  const message = `more than ${LEXEMES_MAX} words, signs and blanks`;
  return { code: 'SUB_BUNDLE_TOO_LARGE', offset, message, fix: 'Split the bundle.' };
}

export function nodesFault(offset: number): Fault {
  const message = `more than ${NODES_MAX} values`;
  return { code: 'SUB_BUNDLE_TOO_LARGE', offset, message, fix: 'Split the bundle.' };
}
