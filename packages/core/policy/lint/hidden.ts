// Advice on text that differs from what a reader sees: invisible characters, and letters of one
// alphabet that look like those of another.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';
import { codePointName, HIDDEN, quote } from '../../text/visible.ts';
import { type Advice, warning } from '../model/advice.ts';
import type { Subject } from './lint-subject.ts';

interface PlacedText {
  readonly text: string;
  readonly path: Path;
}

/** Blanks that are no plain space count as well. */
const UNSEEN = new RegExp(`${HIDDEN}|(?! )\\p{Zs}`, 'u');
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Cyrillic and Greek letters that can be taken for Latin ones. */
const LOOKALIKE = new RegExp(
  [
    '[',
    // а с е о р х у і ј ѕ һ ԁ ԛ ԝ ӏ ү ѵ ԍ к м т в н
    '\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf',
    '\u04af\u0475\u050d\u043a\u043c\u0442\u0432\u043d',
    // А В С Е Н І Ј К М О Р Ѕ Т Х У Ү Ԛ Ԝ Ѵ Ӏ
    '\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425\u0423',
    '\u04ae\u051a\u051c\u0474\u04c0',
    // α γ ι κ ν ο ρ τ υ χ ϲ ϳ
    '\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u03f3',
    // Α Β Ε Ζ Η Ι Κ Μ Ν Ο Ρ Τ Υ Χ
    '\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7',
    ']',
  ].join(''),
  'u',
);

/** Names and patterns that a reviewer would read as something else. */
export function hiddenTexts({ bundle }: Subject): readonly Advice[] {
  const texts = [
    { text: bundle.policy_id, path: ['policy_id'] },
    ...bundle.rules.flatMap((rule, index) => {
      const { rule_id, match, effect } = rule;
      const named = { rule_id, match: { ...match }, ...('tag' in effect && { effect }) };
      return textsIn(named, ['rules', index]);
    }),
    ...textsIn([...(bundle.content?.suppressions ?? [])], ['content', 'suppressions']),
    ...textsIn({ ...bundle.taint }, ['taint']),
  ];
  return texts.flatMap(({ text, path }) => {
    const hidden = UNSEEN.exec(text)?.[0];
    if (hidden !== undefined) {
      return warning('SUB_LINT_HIDDEN_TEXT', path, [
        `${quote(text)} has the invisible character ${codePointName(hidden)} in it`,
        'Remove the character, unless the name really has it.',
      ]);
    }
    const foreign = lookalikeIn(text);
    if (foreign === undefined) return [];
    return warning('SUB_LINT_HIDDEN_TEXT', path, [
      `${quote(text)} has ${codePointName(foreign)} in it, which looks like a Latin letter and is none`,
      'Type the Latin letter, unless the name really has this one.',
    ]);
  });
}

/** A letter that poses as Latin: within a Latin word, or in a word of nothing but such letters. */
function lookalikeIn(text: string): string | undefined {
  if (!/\p{Script=Latin}/u.test(text)) return undefined;
  for (const [word] of text.matchAll(WORD)) {
    const letters = Array.from(word);
    const foreign = letters.find((letter) => LOOKALIKE.test(letter));
    if (foreign === undefined) continue;
    const mixed = /\p{Script=Latin}/u.test(word);
    if (mixed || letters.every((letter) => LOOKALIKE.test(letter))) return foreign;
  }
  return undefined;
}

/** Every text of a value and every key of it; the words of the contract have nothing to hide. */
export function textsIn(value: JsonValue, path: Path): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => textsIn(item, [...path, index]));
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    return [{ text: key, path: at }, ...textsIn(inner, at)];
  });
}
