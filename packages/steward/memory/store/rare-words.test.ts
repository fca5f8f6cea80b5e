import { expect, test } from 'vitest';
import { RANKED_MAX, rareWords } from './rare-words.ts';

test('entries are ranked by all words that stand somewhere, the rarest first', () => {
  const counts = [
    { word: 'meeting', count: 40 },
    { word: 'nowhere', count: 0 },
    { word: 'zanzibar', count: 1 },
  ];
  expect(rareWords(counts)).toEqual(['zanzibar', 'meeting']);
  expect(rareWords([])).toEqual([]);
});

test('common words are left out when too many entries hold them, but the rarest is not', () => {
  const common = { word: 'mail', count: RANKED_MAX };
  expect(rareWords([common, { word: 'zanzibar', count: 3 }])).toEqual(['zanzibar']);
  expect(rareWords([common, { word: 'the', count: RANKED_MAX }])).toEqual(['mail']);
});
