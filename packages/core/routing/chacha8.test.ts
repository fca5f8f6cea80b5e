import { expect, test } from 'vitest';
import { chacha8Block, seededNumbers } from './chacha8.ts';

// Test vectors of draft-strombergson-chacha-test-vectors: keys of 128 bits, 8 rounds, a zero nonce.
const ZERO_KEY = [
  'e28a5fa4a67f8c5defed3e6fb7303486aa8427d31419a729572d777953491120' +
    'b64ab8e72b8deb85cd6aea7cb6089a101824beeb08814a428aab1fa2c816081b',
  '8a26af448a1ba906368fd8c83831c18cec8ced811a028e675b8d2be8fce08116' +
    '5ceae9f1d1b7a975497749480569ceb83de6a0a587d4984f19925f5d338e430d',
];
const ONE_BIT_KEY = [
  '03a7669888605a0765e8357475e58673f94fc8161da76c2a3aa2f3caf9fe5449' +
    'e0fcf38eb882656af83d430d410927d55c972ac4c92ab9da3713e19f761eaa14',
  '7138c25c8a7ce3d5e7546746ffd2e3515ce6a4b1b2d3f380138668ed39fa92f8' +
    'a1aee36258e05fae6f566673511765fdb59e05163d55a708c5f9bc45045124cb',
];

test.each([
  ['zero', Uint32Array.of(0, 0, 0, 0), ZERO_KEY],
  ['a single bit', Uint32Array.of(1, 0, 0, 0), ONE_BIT_KEY],
])('the key stream of a key of %s is that of the published vectors', (_, key, blocks) => {
  const hex = (block: Uint32Array) => Buffer.from(block.buffer).toString('hex');
  expect([0, 1].map((blockNo) => hex(chacha8Block(key, blockNo)))).toEqual(blocks);
});

test('seeded numbers are taken from the key stream, two words for each', () => {
  const next = seededNumbers('0'.repeat(32));
  const stream = Buffer.from(ZERO_KEY.join(''), 'hex');
  const expected = Array.from({ length: 16 }, (_, index) => {
    return Number(stream.readBigUInt64LE(index * 8) >> 11n);
  });
  expect(Array.from({ length: 16 }, () => next() * 2 ** 53)).toEqual(expected);
});

test('the bytes of a seed are the bytes of the key', () => {
  const next = seededNumbers(`01${'0'.repeat(30)}`);
  const stream = Buffer.from(ONE_BIT_KEY.join(''), 'hex');
  expect(next() * 2 ** 53).toBe(Number(stream.readBigUInt64LE(0) >> 11n));
});

test('a seed that is no 16 bytes in hex is a defect of the caller', () => {
  expect(() => seededNumbers('abc')).toThrow('16 bytes');
});
