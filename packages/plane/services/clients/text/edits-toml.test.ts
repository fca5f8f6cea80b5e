// Whatever a TOML config looks like, an edit changes one value and can be taken back to the byte.

import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../test/runs.ts';
import { readDocument } from './document.ts';
import { holdEdits } from './testing/hold-edits.ts';
import { strings } from './testing/styled.ts';
import { styledToml } from './testing/styled-toml.ts';

function readApart(text: string): unknown {
  return parse(text, { integersAsBigInt: 'asNeeded' });
}

describe('edits of random TOML', () => {
  test('each changes one value only, and is undone byte for byte', () => {
    fc.assert(
      fc.property(
        styledToml(),
        strings,
        fc.array(strings, { maxLength: 4 }),
        (styled, command, args) => {
          holdEdits({ styled, format: 'toml', command, args, readApart });
        },
      ),
      runs(500),
    );
  });

  test('a damaged text is broken, or read as the parser reads it', () => {
    fc.assert(
      fc.property(styledToml(), fc.nat(), fc.nat({ max: 4 }), ({ text }, from, length) => {
        const start = from % (text.length + 1);
        const cut = text.slice(0, start) + text.slice(start + length);
        const read = readDocument(cut, 'toml');
        expect(read.kind).toBe(parses(cut) ? 'document' : 'broken');
      }),
      runs(500),
    );
  });
});

function parses(text: string): boolean {
  try {
    readApart(text);
    return true;
  } catch {
    return false;
  }
}
