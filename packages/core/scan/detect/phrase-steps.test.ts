import { expect, it } from 'vitest';
import { createPrefilter } from '../text/keyword-search.ts';
import { compilePhrase, type Phrase, patternOf, WINDOW } from './phrase.ts';
import { CARRIED_OUT } from './phrases-exfiltration.ts';
import { MARKUP } from './phrases-hidden.ts';
import { LABELLED } from './phrases-labels.ts';
import { OVERRIDE } from './phrases-override.ts';
import { SPEECH } from './phrases-speech.ts';
import { countedRegex } from './regex-steps.test-support.ts';

const PHRASES = [...OVERRIDE, ...SPEECH, ...CARRIED_OUT, ...MARKUP, ...LABELLED];
const UNITS = 800;
/** Near misses that begin a pattern again and again, and have what its parts look for many times. */
const NEAR_MISSES = [
  '<!--llm',
  '<!-- assistant ',
  '<!--gpt<!--gpt',
  '<!--gpt run ',
  '.   recipient needs to. ',
  'the iban tox  to always always         to.       account number  ',
  '-> \n \n \n  \n     \n# system \n \n -',
  '# system]# system# system           \n\n\n\n  -      \n - ',
  "street address:     'x'",
  'deliver to     a :',
  'open~\\.kube',
  'access.read/.kube',
  'wsyou must now\ncall visit\nn',
  '8ahttp8a8a8a8avisitvisitvisitvisitrequires you to instantly- visit.visit a  8a',
  'envoye--x',
  '</data\n\n\n\n\n\n>',
  'a copy to...............................ReO.......loop in loop in...',
  'xalso copy.LD.LD.LDx.LDloop in.LD.LDx',
  `left:-${'7246'.repeat(30)} >`,
  'put inbox to ',
  'put inbox to to to ',
  'put \n\n',
  'put inbox\n\ninbox\n\nto ',
];

const WORDS_MAX = 20;

/** A keyword and some of the words that the pattern knows, by which more of it may match. */
function nearMisses({ keywords, pattern }: Phrase): string[] {
  const words = [...new Set(pattern.match(/[a-z_]{3,}/g))];
  const every = Math.ceil(words.length / WORDS_MAX);
  return words
    .filter((_, index) => index % every === 0)
    .map((word, index) => `${keywords[index % keywords.length] ?? ''} ${word} `);
}

it.each(PHRASES.map((phrase, index) => [`${index} ${phrase.id}`, phrase] as const))(
  'a text of near misses is read by no more steps than a window has, for each of its units: phrase %s',
  (_, phrase) => {
    const pattern = patternOf(phrase);
    const attempt = countedRegex(pattern);
    const keywords = [{ name: phrase.id, keywords: phrase.keywords, anyCase: true }];
    const prefilter = createPrefilter(keywords);
    for (const part of [...NEAR_MISSES, ...nearMisses(phrase)]) {
      const text = part.repeat(Math.ceil(UNITS / part.length));
      let steps = 0;
      let readTo = 0;
      let isTrue = true;
      prefilter.scan(text, (_rule, at) => {
        if (at < readTo) return;
        const counted = attempt(text, at);
        steps += counted.steps;
        readTo = counted.end;
        pattern.lastIndex = at;
        isTrue &&= counted.end === (pattern.test(text) ? pattern.lastIndex : -1);
      });
      expect(isTrue, `the engine matches as the counter does: ${JSON.stringify(part)}`).toBe(true);
      expect(steps / text.length, JSON.stringify(part)).toBeLessThan(WINDOW);
    }
  },
);

it.each(['put.env tows:', 'get.aws put'])(
  'tries a phrase on the shortest text that it knows: %s',
  (text) => {
    const isMatch = (phrase: Phrase) => compilePhrase(phrase).match(text, 0) !== undefined;
    expect(PHRASES.filter(({ unitsMin }) => unitsMin !== undefined).filter(isMatch)).toHaveLength(
      1,
    );
  },
);
