import { ERROR_CODES } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { TurnInspector } from '../inspect/index.ts';
import { FOUND_ONLY } from './start-proxy.ts';
import { warmInspector } from './warm-inspector.ts';

it('a new inspector has searched some pages before its first turn, and knows them', () => {
  const fingerprint = (text: string) => text.length.toString(16).padStart(16, '0');
  const classes = ['secret', 'personal'] as const;
  const inspector = new TurnInspector({ fingerprint, classes, actions: FOUND_ONLY });
  expect(warmInspector(inspector)).toMatchObject({
    unscanned: [],
    scannedParts: ERROR_CODES.length,
  });
  expect(warmInspector(inspector)).toMatchObject({ scannedParts: 0 });
});
