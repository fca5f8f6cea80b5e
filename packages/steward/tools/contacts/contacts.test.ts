import { expect, test } from 'vitest';
import { toolCaller } from '../testing/call-tool.ts';
import { contactsServer } from './index.ts';

const contacts = [
  { name: 'Ann Berg', emails: ['ann@example.com'], handles: ['@ann'] },
  { name: 'Bob', emails: [], handles: [] },
];
const call = toolCaller(contactsServer({ contacts: () => contacts }));

test('contacts are listed with their addresses, all or those that fit', async () => {
  expect((await call('list')).text).toBe('Ann Berg, ann@example.com, @ann\nBob');
  expect((await call('list', { search: 'EXAMPLE' })).text).toBe('Ann Berg, ann@example.com, @ann');
  expect((await call('list', { search: 'eve' })).text).toBe('There is no such contact.');
});
