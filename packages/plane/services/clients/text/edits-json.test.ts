// Whatever a JSON config looks like, an edit changes one value and can be taken back to the byte.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../test/runs.ts';
import { readDocument } from './document.ts';
import { holdEdits } from './testing/hold-edits.ts';
import { strings } from './testing/styled.ts';
import { styledJson } from './testing/styled-json.ts';
import type { Format } from './tree.ts';

/** Not by our reader: comments and trailing commas are cut out for `JSON.parse`. */
function readApart(text: string, format: Format): unknown {
  const body = text.replace(/^\uFEFF/, '');
  if (format === 'json') return JSON.parse(body);
  const bare = body.replace(COMMENTS, (_, kept?: string) => kept ?? ' ');
  return JSON.parse(bare.replace(LAST_COMMAS, (_, kept?: string) => kept ?? ''));
}

const COMMENTS = /("(?:\\.|[^"\\])*")|\/\/[^\r\n]*|\/\*[^]*?\*\//g;
const LAST_COMMAS = /("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g;

describe.each(['json', 'jsonc'] as const)('edits of random %s', (format) => {
  const docs = styledJson(format === 'jsonc');

  test('each changes one value only, and is undone byte for byte', () => {
    fc.assert(
      fc.property(docs, strings, fc.array(strings, { maxLength: 4 }), (styled, command, args) => {
        holdEdits({ styled, format, command, args, readApart });
      }),
      runs(400),
    );
  });

  test('a damaged text is JSON exactly when JSON.parse says so', () => {
    fc.assert(
      fc.property(docs, fc.nat(), fc.nat({ max: 4 }), ({ text }, from, length) => {
        const start = from % (text.length + 1);
        const cut = text.slice(0, start) + text.slice(start + length);
        // Keys may be there twice, as for JSON.parse.
        const read = readDocument(cut, 'json', []);
        expect(read.kind === 'document' ? read.document.value : 'broken').toEqual(parseOr(cut));
      }),
      runs(400),
    );
  });
});

function parseOr(text: string): unknown {
  try {
    return readApart(text, 'json');
  } catch {
    return 'broken';
  }
}
