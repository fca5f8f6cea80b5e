import { closed, defaulted, integer, required, string } from '@subluminal/contracts/shape';
import { expect, test } from 'vitest';
import { ownTool } from './own-tool.ts';

const use = { key: 'k', signal: new AbortController().signal };
const search = ownTool({
  name: 'search',
  description: 'Searches notes.',
  input: closed({
    query: required(string({ lengthMax: 100 }), 'Words to look for.'),
    limit: defaulted(integer({ min: 1, max: 50 }), 10, 'How many are shown.'),
  }),
  call: ({ query, limit }) => Promise.resolve({ text: `${query} ${limit + 1}` }),
});

test('the schema of a tool is that of its shape', () => {
  expect(search.inputSchema).toMatchObject({
    type: 'object',
    required: ['query'],
    additionalProperties: false,
    properties: { query: { type: 'string', description: 'Words to look for.' } },
  });
});

test('a tool gets its arguments with the defaults of what is left out', async () => {
  expect(await search.call({ query: 'tea' }, use)).toEqual({ text: 'tea 11' });
});

test('arguments that do not fit are answered with an error and never reach the tool', async () => {
  expect(await search.call({ query: 'tea', limit: 99 }, use)).toEqual({
    isError: true,
    text: 'The arguments do not fit.\nlimit: expected a whole number from 1 to 50, got 99.',
  });
  const { text } = await search.call({ query: 'tea', qurey: 'tea' }, use);
  expect(text).toBe('The arguments do not fit.\nqurey: there is no such argument.');
});
