import type { JsonObject, JsonValue } from '@subluminal/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalize } from './canonicalize.ts';
import { itemTexts, memberText } from './text-parts.ts';

const jsonObject = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());

function canonicalText(value: JsonValue): string {
  const written = canonicalize(JSON.stringify(value));
  return written.ok ? written.canonical : '';
}

test('finds the text of every member of an object', () => {
  fc.assert(
    fc.property(jsonObject, (value) => {
      const object = JSON.parse(JSON.stringify(value)) as JsonObject;
      const text = canonicalText(object);
      for (const [name, member] of Object.entries(object)) {
        expect(JSON.parse(memberText(text, name) ?? '')).toEqual(member);
      }
    }),
  );
});

test('cuts an array into the texts of its items', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (value) => {
      const array = JSON.parse(JSON.stringify(value)) as readonly JsonValue[];
      const texts = itemTexts(canonicalText(array));
      expect(texts?.map((text): unknown => JSON.parse(text))).toEqual(array);
    }),
  );
});

test('keeps digits that a JavaScript number would lose', () => {
  const read = canonicalize('{"b":[1],"args":{"id":12345678901234567891},"args2":0}');
  expect(read.ok && memberText(read.canonical, 'args')).toBe('{"id":12345678901234567891}');
});

test('is not fooled by a name inside a string or a deeper object', () => {
  expect(memberText('{"a":"\\",\\"args\\":1","b":{"args":2}}', 'args')).toBeUndefined();
});

test('finds nothing in empty objects and lists', () => {
  expect(itemTexts('[]')).toEqual([]);
  expect(memberText('{}', 'args')).toBeUndefined();
});
