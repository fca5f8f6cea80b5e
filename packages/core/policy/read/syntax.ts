// What the yaml package refuses, in words that name the likely fix.
import type { Fault } from './finding.ts';
import { quote, shown } from './quote.ts';

/** A fault that remembers which error of the yaml package it was. */
export interface SyntaxFault extends Fault {
  readonly yamlCode: string;
}

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

interface Context {
  readonly code?: string;
  readonly text?: string;
}

export function syntaxFault(offset: number, reason: string, context: Context = {}): SyntaxFault {
  const { code: yamlCode = '', text = '' } = context;
  const fault = { code: 'SUB_BUNDLE_SYNTAX', offset, yamlCode } as const;
  const better = betterWords(reason, { yamlCode, source: text.slice(offset, offset + 200) });
  if (better !== undefined) return { ...fault, ...better };
  const plain = reason
    .replace(/^Unexpected ([a-z-]+)( token)?/, (whole, name: string) => {
      const sign = Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined;
      return sign === undefined ? whole : `unexpected ${sign}`;
    })
    .replace(/ in YAML (stream|document)/, ' here');
  const message = shown(plain.charAt(0).toLowerCase() + plain.slice(1), 200);
  const fix = FIXES.get(yamlCode) ?? 'Check the indentation, quotes and brackets here.';
  return { ...fault, message, fix };
}

type Words = Pick<Fault, 'message' | 'fix'>;
interface Place {
  readonly yamlCode: string;
  readonly source: string;
}

/** Errors that the yaml package tells in the words of its grammar. */
function betterWords(reason: string, { yamlCode, source }: Place): Words | undefined {
  const line = /^[^\r\n]*/.exec(source)?.[0] ?? '';
  if (yamlCode === 'BAD_ALIAS' && line.startsWith('*')) {
    return unquotedStar(/^[^\s,\]}]+/.exec(line)?.[0] ?? '*');
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
export function unquotedStar(written: string): Words {
  const message = `${quote(written)} without quotes is a YAML alias, and has no anchor above it`;
  return { message, fix: `Put quotes around it: \`"${shown(written)}"\`.` };
}

/** After one of these, the rest of the file is read as something that nobody wrote. */
const CASCADING: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'TAB_AS_INDENT',
  'MISSING_CHAR',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'BAD_COLLECTION_TYPE',
  'UNEXPECTED_TOKEN',
]);

/** The faults up to the first from which others follow. */
export function firstOfCascade(
  faults: readonly (Fault | SyntaxFault)[],
  text: string,
): readonly Fault[] {
  const inOrder = faults.toSorted((one, other) => one.offset - other.offset);
  const first = inOrder.findIndex((fault) => CASCADING.has(yamlCodeOf(fault)));
  const kept = first === -1 ? inOrder : inOrder.slice(0, first + 1);
  const last = kept.at(-1);
  if (first === -1 || last === undefined) return kept.map(plainFault);
  const deeper = deeperLine(inOrder, { offset: last.offset, text });
  return [...kept.slice(0, -1), deeper ?? last].map(plainFault);
}

/** A value that would have to be a key of several lines: the line below it is indented too far. */
function deeperLine(
  faults: readonly (Fault | SyntaxFault)[],
  { offset, text }: { readonly offset: number; readonly text: string },
): Fault | undefined {
  const here = new Set(faults.filter((fault) => fault.offset === offset).map(yamlCodeOf));
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

function yamlCodeOf(fault: Fault | SyntaxFault): string {
  return 'yamlCode' in fault ? fault.yamlCode : '';
}

function plainFault({ code, offset, message, fix }: Fault): Fault {
  return { code, offset, message, fix };
}
